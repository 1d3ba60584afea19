"""Type annotations of requests, split into the parts by which values are checked."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import Tagged, quantity_of
from epsilond.accountants.quantity import Quantity
from epsilond.accountants.records import scale_of, sure_range
from epsilond.accountants.scale import Scale


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Type annotation of a field, split into the parts that are needed to check its values.

    Attributes:
        kind: kind of the values. "request" is a request class, "tagged" a union of request classes that a field such as
            `kind` distinguishes, and "union" any other union.
        annotation: the annotation itself, without aliases.
        bare: the type without `None` and without metadata.
        quantity: meaning and range of the values; None if the annotation has none.
        scale: range of a number in a request class in which results neither vanish nor overflow; None without one.
        tag: name of the field that distinguishes the members of a "tagged" union; empty for the other kinds.
        members: shapes of the members of a union, or the one shape of all items of a tuple; empty for other kinds.
    """

    kind: Literal["float", "int", "bool", "str", "literal", "tuple", "mapping", "request", "tagged", "union", "any"]
    annotation: object
    bare: Any
    quantity: Quantity | None
    scale: Scale | None = None
    tag: str = ""
    members: tuple[Shape, ...] = ()

    @functools.cached_property
    def _valid_range(self) -> tuple[float, float]:
        """Bounds of an open interval of numbers that need no further check; an empty interval if none is known."""
        empty = (1.0, 0.0)
        if self.kind not in ("float", "int") or self.quantity is None:
            return empty
        return sure_range(self.bare, self.quantity, self.scale)

    def has_no_fault(self, value: Any) -> bool:
        """Return whether a quick test shows that a number or a word is valid; False if a full check is needed.

        Args:
            value: value of a field, of any type.
        """
        if type(value) is self.bare and self.kind in ("float", "int"):
            above, below = self._valid_range
            return bool(above < value < below)
        return type(value) is str and self.kind == "literal" and value in self.words

    @functools.cached_property
    def classes(self) -> tuple[type, ...]:
        """Classes of which an instance is a valid value that needs no conversion."""
        if self.kind == "tagged":
            return tuple(member.bare for member in self.members)
        if self.kind == "request":
            return (self.bare,)
        return (Mapping,) if self.kind == "mapping" else ()

    @functools.cached_property
    def words(self) -> tuple[object, ...]:
        """Allowed values of a `Literal` type; empty for a type without arguments."""
        return get_args(self.bare)

    @functools.cached_property
    def choices(self) -> dict[str, Shape]:
        """Members of a "tagged" union, by the value of the field that distinguishes them."""
        return {str(getattr(member.bare, self.tag)): member for member in self.members}


@functools.cache
def shape_of(annotation: Hashable) -> Shape:
    """Return the shape of an annotation that is not in a request class, such as that of a route's body; from a cache.

    Args:
        annotation: a type, with its metadata.
    """
    return _shape(annotation)


def _shape(annotation: object, request: type | None = None) -> Shape:
    """Split a type annotation into the parts that are needed to check its values (its shape).

    Args:
        annotation: a type, with its metadata.
        request: the request class with the annotated field; None outside of request classes.

    Returns:
        The shape, with those of the types that it contains. Only numbers of a request class may have a `scale`.
    """
    if isinstance(annotation, TypeAliasType):
        return _shape(annotation.__value__)
    bare, quantity = quantity_of(annotation)
    if isinstance(bare, TypeAliasType):
        return _shape(bare)
    parts = {"annotation": annotation, "bare": bare, "quantity": quantity}

    # Types that contain others.
    metadata = getattr(annotation, "__metadata__", ())
    tagged = next((item for item in metadata if isinstance(item, Tagged)), None)
    origin = get_origin(bare)
    if tagged is not None:
        return Shape(kind="tagged", tag=tagged.field, members=tuple(map(_shape, get_args(bare))), **parts)
    if origin is tuple:
        item_type = get_args(bare)[0]
        return Shape(kind="tuple", members=(_shape(item_type),), **parts)
    if origin in (Union, UnionType):
        # The description of the whole field, its quantity, also holds for members without one.
        members = [replace(member, quantity=member.quantity or quantity) for member in map(_shape, get_args(bare))]
        return Shape(kind="union", members=tuple(members), **parts)

    # Types that do not contain others.
    if origin is Literal:
        return Shape(kind="literal", **parts)
    if is_dataclass(bare):
        return Shape(kind="request", **parts)
    if isinstance(origin or bare, type) and issubclass(origin or bare, Mapping):
        return Shape(kind="mapping", **parts)
    if bare in (float, int, bool, str):
        scale = None if request is None or quantity is None else scale_of(annotation, quantity, request)
        return Shape(kind=bare.__name__, scale=scale, **parts)
    return Shape(kind="any", **parts)


@dataclass(frozen=True)
class FieldShape:
    """Field of a request class, as the reader of requests needs it.

    Attributes:
        shape: parts of the annotation that are needed to check values.
        default: value of an absent field; `MISSING` if the field is required or has a factory of defaults.
        is_required: whether the field must be given.
    """

    shape: Shape
    default: object
    is_required: bool


@functools.cache
def fields_of(request: Hashable) -> dict[str, FieldShape]:
    """Return the fields of a request class by their names, from a cache.

    Args:
        request: the request class.

    Returns:
        For each field its type, its default, and whether it is required.
    """
    cls: Any = request
    hints = get_type_hints(cls, include_extras=True)
    shapes = {}
    for field in fields(cls):
        shapes[field.name] = FieldShape(
            shape=_shape(hints[field.name], cls),
            default=field.default,
            is_required=field.default is MISSING and field.default_factory is MISSING,
        )
    return shapes


def allowed_values(annotation: object) -> str | None:
    """Describe the allowed values of a field: its range, or the words of a `Literal`.

    Args:
        annotation: annotation of the field, with its metadata.

    Returns:
        The description; None if every value of the type is allowed.
    """
    bare, quantity = quantity_of(annotation)
    if quantity is not None and quantity.allowed:
        return quantity.allowed
    if get_origin(bare) is Literal:
        return ", ".join(map(str, get_args(bare)))
    return None
