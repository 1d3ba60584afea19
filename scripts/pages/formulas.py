"""Statements in mathematical type, as printed and as corrected: LaTeX here, MathML on the pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Typeset(NamedTuple):
    """A statement's formula as printed, and the corrected formula if it differs."""

    printed: str
    corrected: str = ""


TYPESET: Mapping[str, Typeset] = {
    "balle-wang-2018.8": Typeset(
        r"\delta(\varepsilon) = \Phi\left(\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\right)"
        r" - e^{\varepsilon}\, \Phi\left(-\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\right)"
    ),
    "lowy.2.1": Typeset(
        r"\sigma^2 = \frac{256\, L^2 R \ln(2.5 R/\delta) \ln(2/\delta)}{(n\varepsilon)^2}, \quad"
        r" \mathbb{E} F(\hat w) - F^* \le \frac{272\, L D \nu}{\sqrt{\tilde M}}, \quad \tilde M = \sqrt{M'} "
        r"\text{ or } \sqrt{M}",
        r"\sigma^2 = \frac{256\, L^2 R \ln(2.5 R/\delta) \ln(2/\delta)}{(n\varepsilon)^2}, \quad"
        r" \mathbb{E} F(\hat w) - F^* \le \frac{174\, L D \nu}{\sqrt{\tilde M}}, \quad \tilde M = M' \text{ or } M",
    ),
    "lowy.2.2": Typeset(
        r"\mathbb{E} F(\hat w) - F^* \le \frac{545\, L D \nu}{\sqrt{M}}",
        r"\mathbb{E} F(\hat w) - F^* \le \frac{272.5\, L D \nu}{\sqrt{\tilde M}}",
    ),
    "lowy.appendix-h": Typeset(
        r"\sigma^2 = \frac{8\, L^2 \ln(1/\delta)\, R}{(n\varepsilon)^2}, \quad K = "
        r"\frac{n\sqrt{\varepsilon}}{2\sqrt{R}}"
    ),
    "lowy.appendix-g.1": Typeset(
        r"\varepsilon_0 = \frac{\varepsilon}{n}, \quad \delta_0 = \frac{\delta}{n}",
        r"\varepsilon_0 = \frac{\varepsilon}{n}, \quad \delta_0 = \delta\, \frac{e^{\varepsilon/n} - "
        r"1}{e^{\varepsilon} - 1}",
    ),
    "lowy.lemma-e.5-erm": Typeset(
        r"V^2 \le \frac{\hat\Phi^2}{MK}\, 1\{MK < \tilde n\} + d \min\left\{\frac{\Sigma^2}{M'}, "
        r"\frac{\sigma_{\max}^2}{M}\right\}",
        r"\frac{w^2}{MK}\,\frac{n - K}{n - 1} + \frac{v^2}{M}\,\frac{N - M}{N - 1} + d "
        r"\min\left\{\frac{\Sigma^2}{M'}, \frac{\sigma_{\max}^2}{M}\right\}",
    ),
    "lowy.f.2": Typeset(
        r"\tilde\delta = \delta + 2 N n e^{(n-1)\varepsilon_0} \delta_0",
        r"\tilde\delta = \delta + (e^{\varepsilon^r} + 1)\, 2 N n e^{(n-1)\varepsilon_0} \delta_0",
    ),
    "lowy.definition-4.advanced-composition": Typeset(
        r"\varepsilon_0 = \sqrt{2 \ln(1/\delta') \sum_r (\varepsilon_0^r)^2} + \sum_r \varepsilon_0^r "
        r"(e^{\varepsilon_0^r} - 1)",
        r"\varepsilon_0 = \sqrt{2 \ln(1/\delta') \sum_r (\varepsilon_0^r)^2} + \sum_r \varepsilon_0^r "
        r"\tanh(\varepsilon_0^r / 2)",
    ),
    "das.1": Typeset(
        r"m = \left\lceil -\frac{\Delta_1}{\varepsilon} \log\left(1 - (e^{\varepsilon/\Delta_1} - 1)\, "
        r"\Delta_\infty\right) \right\rceil, \quad \delta \le 2^{-d}",
        r"\delta = 1 - \prod_i \left(1 - \mathrm{esc}(k_i)\right) \approx 1 - 2^{-q}, \quad q = \lfloor "
        r"\Delta_1 / \Delta_\infty \rfloor",
    ),
    "das.remark-2": Typeset(
        r"A = \Delta_\infty, \quad \delta = 2^{-d}",
        r"A = \frac{\Delta}{\varepsilon} \log\left(1 + \frac{e^{\varepsilon} - 1}{2\delta}\right) \text{ in "
        r"one coordinate}",
    ),
    "das.2": Typeset(
        r"\left(\frac{2r}{n}\, \hat\varepsilon,\; 2^{-d} K + \delta\right), \quad \hat\varepsilon \le "
        r"\frac{\varepsilon}{8} + \frac{\varepsilon^2}{256 \log(1/\delta)}",
        r"\left(\hat\varepsilon,\; 1 - (1 - \tfrac{r}{n}\delta_0)^K (1 - \delta)\right) \text{ with a true "
        r"} \delta_0",
    ),
    "das.corollary-3.1": Typeset(
        r"\left(\frac{\varepsilon}{8} + \frac{\varepsilon^2}{256 \log(1/\delta)},\; 2^{-d} K + \delta + "
        r"\frac{4(\rho - 1)}{n}\right)"
    ),
    "asoodeh.2": Typeset(
        r"\delta = \frac{m}{n} \sum_t \theta_\varepsilon\left(\frac{2L}{\sqrt{m}\, \sigma_t}\right) "
        r"\prod_{j > t} \theta_\varepsilon\left(\frac{2\rho \sqrt{m}}{\eta_j \sigma_j}\right)"
    ),
    "asoodeh.corollary-1": Typeset(
        r"\mathbb{E} F(W_T) - \inf F \le \frac{2\beta (m D^2 + G^2 + \sigma^2)}{\lambda^2 n}, \quad "
        r"\theta_\varepsilon\left(\frac{2\rho \sqrt{\lambda m j}}{\sigma}\right)",
        r"\mathbb{E} F(W_T) - \inf F \le \frac{2\beta (m D^2 + G^2 + d \sigma^2)}{\lambda^2 n}, \quad "
        r"\theta_\varepsilon\left(\frac{2\rho \lambda j \sqrt{m}}{\sigma}\right)",
    ),
    "asoodeh.corollary-3": Typeset(
        r"\delta \le \frac{1}{T^2}\, \theta_s \sum_{\tau = 1}^{T} \frac{1 - \theta_c^{\tau}}{1 - \theta_c}"
    ),
    "bietti.4.1": Typeset(
        r"\sigma_\zeta \ge \frac{c\, C \sqrt{n \ln(1/\delta)}}{N \varepsilon}, \quad c \text{ absolute}",
        r"\sigma_\zeta \ge \frac{c\, C \sqrt{n \ln(1/\delta)}}{N \varepsilon}, \quad c = \frac{k "
        r"\varepsilon}{\mu^*(\varepsilon, \delta) \sqrt{\ln(1/\delta)}}",
    ),
    "bietti.4.5": Typeset(
        r"\mathbb{E} f(\bar z_n) - f^* \le \frac{4 L_\alpha \|z^*\|_\alpha^2}{n} + \frac{3 \sigma_{tot} "
        r"\|z^*\|_\alpha}{\sqrt{n}}, \quad L_\alpha = L \max(\alpha, 1/N)"
    ),
    "bietti.5.2": Typeset(
        r"L_{m,\alpha} = L \max\left\{\alpha + \alpha \frac{m_{\max}}{M},\; \frac{m_{\max}}{M}\right\}",
        r"L_{m,\alpha} = L \max\left\{\alpha + \alpha (1 - q) \frac{m_{\max}}{q M},\; \frac{m_{\max}}{q M}\right\}",
    ),
    "bietti.b.4": Typeset(
        r"L_\alpha = L \max\left\{\alpha + \frac{\alpha}{N},\; \frac{1}{N}\right\}",
        r"L_\alpha = L \max\left\{\alpha + \frac{\alpha (1 - q)}{q N},\; \frac{1}{q N}\right\}",
    ),
    "bietti.lemma-4.6": Typeset(
        r"n \ge \frac{N (N - 1)\, \sigma^2 \varepsilon^2}{c^2 d_w G^2 \ln(1/\delta)}",
        r"n \ge \frac{N (N - 1)\, \sigma^2 \mu^*(\varepsilon, \delta)^2}{k^2 d_w G^2}",
    ),
    "reshef.5.1": Typeset(r"\rho_i = 2 S \sqrt{\sum_{t \in T_i} \frac{1}{\sigma_{t,i}^2}}"),
    "reshef.5.2": Typeset(
        r"\mathbb{E} f(x_T) - f^* \le 4 D \left(\frac{G^* + 4 L D}{T} + \frac{\sqrt{\tilde\sigma^2 + "
        r"\tilde\xi^2}}{\sqrt{m T}} + \frac{2 S \sqrt{2 M d (1 + \ln T)}}{\rho m T}\right)"
    ),
    "reshef.f.2": Typeset(
        r"\mathbb{E} f(x_T) - f^* \le 4 D \left(\frac{G^* + 2 L D}{T} + \frac{\sqrt{\tilde\sigma^2 + "
        r"\tilde\xi^2}}{\sqrt{m T}} + \frac{2 S \sqrt{d}}{\rho m T}\right)"
    ),
    "reshef.lemma-a.6": Typeset(r"\|\nabla f(x) - \nabla f(x^*)\|^2 \le 2 L \left(f(x) - f(x^*)\right)"),
}
"""Formulas by the ids of theorems. They show the main part of a statement; its words are complete."""
NAMESPACE = re.compile(r' xmlns="[^"]*"')


def side_by_side(theorem: str) -> list[str]:
    """Return both formulas of a theorem as HTML within Markdown; nothing for a theorem without formulas."""
    if theorem not in TYPESET:
        return []
    printed, corrected = TYPESET[theorem]
    columns = [_column("As printed", printed)]
    if corrected:
        columns.append(_column("Corrected", corrected))
    return ['<div class="formulas">', *columns, "</div>\n"]


def _column(title: str, tex: str) -> str:
    return f'<figure><figcaption>{title}</figcaption><div class="formula" tabindex="0">{mathml(tex)}</div></figure>'


def mathml(tex: str) -> str:
    """Return a formula in LaTeX as MathML, on a line of its own."""
    from latex2mathml.converter import convert  # noqa: PLC0415  only the site needs it

    return NAMESPACE.sub("", convert(tex, display="block"))
