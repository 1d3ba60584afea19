"""No module imports itself through others, imports for annotations included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import grimp


def cycles_of(imports: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the strongly connected components of more than one module (Tarjan's algorithm, without recursion)."""
    place: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    for root in imports:
        pending = [] if root in place else [(root, iter(imports[root]))]
        while pending:
            module, rest = pending[-1]
            if module not in place:
                place[module] = lowest[module] = len(place)
                stack.append(module)
            below = next((each for each in rest if each not in place), None)
            if below is not None:
                pending.append((below, iter(imports[below])))
                continue
            pending.pop()
            open_modules = set(stack)
            reached = [lowest[each] for each in imports[module] if each in open_modules]
            lowest[module] = min([place[module], *reached])
            if lowest[module] == place[module]:
                component = tuple(sorted(stack[stack.index(module) :]))
                del stack[stack.index(module) :]
                if len(component) > 1:
                    yield component


def test_a_cycle_is_seen() -> None:
    imports = {"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": ["e"], "e": []}
    assert list(cycles_of(imports)) == [("a", "b", "c")]


def test_there_is_no_import_cycle() -> None:
    graph = grimp.build_graph("epsilond", exclude_type_checking_imports=False, cache_dir=None)
    imports = {module: sorted(graph.find_modules_directly_imported_by(module)) for module in sorted(graph.modules)}
    assert len(imports) > 900
    assert list(cycles_of(imports)) == []
