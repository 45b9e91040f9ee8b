from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.precision_section_compute_type_0 import (
    PrecisionSectionComputeType0,
    check_precision_section_compute_type_0,
)
from ..models.precision_section_gradients_type_0 import (
    PrecisionSectionGradientsType0,
    check_precision_section_gradients_type_0,
)
from ..models.precision_section_master_type_0 import (
    PrecisionSectionMasterType0,
    check_precision_section_master_type_0,
)
from ..models.precision_section_parameters_type_0 import (
    PrecisionSectionParametersType0,
    check_precision_section_parameters_type_0,
)
from ..models.precision_section_reduce_type_0 import (
    PrecisionSectionReduceType0,
    check_precision_section_reduce_type_0,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.fp_8_section import Fp8Section


T = TypeVar("T", bound="PrecisionSection")


@_attrs_define
class PrecisionSection:
    """Data types of computation and state.

    Attributes:
        compute (None | PrecisionSectionComputeType0 | Unset): Type of activations and matrix products.
        parameters (None | PrecisionSectionParametersType0 | Unset): Type of the weights kept on the GPU.
        master (None | PrecisionSectionMasterType0 | Unset): Extra master copy of the weights kept by the optimizer.
        gradients (None | PrecisionSectionGradientsType0 | Unset): Type of the gradient accumulation buffer.
        reduce (None | PrecisionSectionReduceType0 | Unset): Type in which gradients are reduced.
        autocast (bool | None | Unset): torch autocast over fp32 parameters.
        fp8 (Fp8Section | None | Unset): 8-bit training; null means none.
    """

    compute: None | PrecisionSectionComputeType0 | Unset = UNSET
    parameters: None | PrecisionSectionParametersType0 | Unset = UNSET
    master: None | PrecisionSectionMasterType0 | Unset = UNSET
    gradients: None | PrecisionSectionGradientsType0 | Unset = UNSET
    reduce: None | PrecisionSectionReduceType0 | Unset = UNSET
    autocast: bool | None | Unset = UNSET
    fp8: Fp8Section | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.fp_8_section import Fp8Section  # noqa: PLC0415

        compute: None | str | Unset
        if isinstance(self.compute, Unset):
            compute = UNSET
        elif isinstance(self.compute, str):
            compute = self.compute
        else:
            compute = self.compute

        parameters: None | str | Unset
        if isinstance(self.parameters, Unset):
            parameters = UNSET
        elif isinstance(self.parameters, str):
            parameters = self.parameters
        else:
            parameters = self.parameters

        master: None | str | Unset
        if isinstance(self.master, Unset):
            master = UNSET
        elif isinstance(self.master, str):
            master = self.master
        else:
            master = self.master

        gradients: None | str | Unset
        if isinstance(self.gradients, Unset):
            gradients = UNSET
        elif isinstance(self.gradients, str):
            gradients = self.gradients
        else:
            gradients = self.gradients

        reduce: None | str | Unset
        if isinstance(self.reduce, Unset):
            reduce = UNSET
        elif isinstance(self.reduce, str):
            reduce = self.reduce
        else:
            reduce = self.reduce

        autocast: bool | None | Unset
        if isinstance(self.autocast, Unset):
            autocast = UNSET
        else:
            autocast = self.autocast

        fp8: dict[str, Any] | None | Unset
        if isinstance(self.fp8, Unset):
            fp8 = UNSET
        elif isinstance(self.fp8, Fp8Section):
            fp8 = self.fp8.to_dict()
        else:
            fp8 = self.fp8

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if compute is not UNSET:
            field_dict["compute"] = compute
        if parameters is not UNSET:
            field_dict["parameters"] = parameters
        if master is not UNSET:
            field_dict["master"] = master
        if gradients is not UNSET:
            field_dict["gradients"] = gradients
        if reduce is not UNSET:
            field_dict["reduce"] = reduce
        if autocast is not UNSET:
            field_dict["autocast"] = autocast
        if fp8 is not UNSET:
            field_dict["fp8"] = fp8

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fp_8_section import Fp8Section  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_compute(data: object) -> None | PrecisionSectionComputeType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                compute_type_0 = check_precision_section_compute_type_0(data)

                return compute_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PrecisionSectionComputeType0 | Unset, data)

        compute = _parse_compute(d.pop("compute", UNSET))

        def _parse_parameters(
            data: object,
        ) -> None | PrecisionSectionParametersType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                parameters_type_0 = check_precision_section_parameters_type_0(data)

                return parameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PrecisionSectionParametersType0 | Unset, data)

        parameters = _parse_parameters(d.pop("parameters", UNSET))

        def _parse_master(data: object) -> None | PrecisionSectionMasterType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                master_type_0 = check_precision_section_master_type_0(data)

                return master_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PrecisionSectionMasterType0 | Unset, data)

        master = _parse_master(d.pop("master", UNSET))

        def _parse_gradients(
            data: object,
        ) -> None | PrecisionSectionGradientsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                gradients_type_0 = check_precision_section_gradients_type_0(data)

                return gradients_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PrecisionSectionGradientsType0 | Unset, data)

        gradients = _parse_gradients(d.pop("gradients", UNSET))

        def _parse_reduce(data: object) -> None | PrecisionSectionReduceType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reduce_type_0 = check_precision_section_reduce_type_0(data)

                return reduce_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PrecisionSectionReduceType0 | Unset, data)

        reduce = _parse_reduce(d.pop("reduce", UNSET))

        def _parse_autocast(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        autocast = _parse_autocast(d.pop("autocast", UNSET))

        def _parse_fp8(data: object) -> Fp8Section | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fp8_type_0 = Fp8Section.from_dict(data)

                return fp8_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Fp8Section | None | Unset, data)

        fp8 = _parse_fp8(d.pop("fp8", UNSET))

        precision_section = cls(
            compute=compute,
            parameters=parameters,
            master=master,
            gradients=gradients,
            reduce=reduce,
            autocast=autocast,
            fp8=fp8,
        )

        return precision_section
