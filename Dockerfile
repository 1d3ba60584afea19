# The first stage makes the virtual environment with scripts/image-install, and has a C compiler for the kernel; the
# second holds that environment and nothing else.
FROM python:3.11.14-bookworm AS build
WORKDIR /src
COPY requirements-build.lock requirements-runtime.lock requirements-docs.lock ./
COPY pyproject.toml hatch_build.py mkdocs.yml README.md CHANGELOG.md CONTRIBUTING.md LICENSE ./
COPY scripts scripts
COPY docs docs
COPY benchmarks benchmarks
COPY openapi openapi
COPY examples/notebooks examples/notebooks
COPY src src
COPY kernel kernel
COPY app app
COPY accountants accountants
COPY calibrators calibrators
COPY mechanisms mechanisms
COPY simulators simulators
COPY witness witness
COPY ledgers ledgers
COPY storage storage
COPY training training
ENV PIP_NO_CACHE_DIR=1
RUN scripts/image-install /opt/epsilond

FROM python:3.11.14-slim-bookworm
LABEL org.opencontainers.image.title="epsilond" \
      org.opencontainers.image.description="Certified privacy accounting and noise calibration for federated learning" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/opt/epsilond/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    EPSILOND_HOST=0.0.0.0 \
    EPSILOND_PORT=8000 \
    EPSILOND_STORE_PATH=/var/lib/epsilond/jobs.sqlite
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin epsilond \
    && install --directory --owner=10001 --mode=700 /var/lib/epsilond /var/lib/epsilond-heads
VOLUME /var/lib/epsilond /var/lib/epsilond-heads
COPY --from=build /opt/epsilond /opt/epsilond
USER 10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['EPSILOND_PORT']}/healthz\", timeout=4)"]
CMD ["epsilond", "serve"]
