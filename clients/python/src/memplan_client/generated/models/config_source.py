from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.config_source_format import ConfigSourceFormat, check_config_source_format
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.config_source_env import ConfigSourceEnv
    from ..models.config_source_files import ConfigSourceFiles
    from ..models.model_section import ModelSection


T = TypeVar("T", bound="ConfigSource")


@_attrs_define
class ConfigSource:
    """A training config in the form its owner has it; nothing in it is executed, sourced or fetched.

    Attributes:
        format_ (ConfigSourceFormat | Unset): Dialect of the text; `auto` detects it and says how sure it is. Default:
            'auto'.
        text (None | str | Unset): The config itself: a launch script, a list of flags, or a config file; at most 5 MiB.
        files (ConfigSourceFiles | Unset): Other files that the text names, by relative name; at most 100 and 5 MiB
            together.
        env (ConfigSourceEnv | Unset): Environment variables that a script would see; they feed what the text leaves
            open.
        argv (list[str] | Unset): Arguments of the script in `text`; without a text, the argument list of the training
            program itself.
        model (ModelSection | None | Unset): Model facts that complete or override the text; may hold a single key.
        world_size (int | None | Unset): Number of GPUs; completes or overrides what the text says.
    """

    format_: ConfigSourceFormat | Unset = "auto"
    text: None | str | Unset = UNSET
    files: ConfigSourceFiles | Unset = UNSET
    env: ConfigSourceEnv | Unset = UNSET
    argv: list[str] | Unset = UNSET
    model: ModelSection | None | Unset = UNSET
    world_size: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.model_section import ModelSection  # noqa: PLC0415

        format_: str | Unset = UNSET
        if not isinstance(self.format_, Unset):
            format_ = self.format_

        text: None | str | Unset
        if isinstance(self.text, Unset):
            text = UNSET
        else:
            text = self.text

        files: dict[str, Any] | Unset = UNSET
        if not isinstance(self.files, Unset):
            files = self.files.to_dict()

        env: dict[str, Any] | Unset = UNSET
        if not isinstance(self.env, Unset):
            env = self.env.to_dict()

        argv: list[str] | Unset = UNSET
        if not isinstance(self.argv, Unset):
            argv = self.argv

        model: dict[str, Any] | None | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        elif isinstance(self.model, ModelSection):
            model = self.model.to_dict()
        else:
            model = self.model

        world_size: int | None | Unset
        if isinstance(self.world_size, Unset):
            world_size = UNSET
        else:
            world_size = self.world_size

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if format_ is not UNSET:
            field_dict["format"] = format_
        if text is not UNSET:
            field_dict["text"] = text
        if files is not UNSET:
            field_dict["files"] = files
        if env is not UNSET:
            field_dict["env"] = env
        if argv is not UNSET:
            field_dict["argv"] = argv
        if model is not UNSET:
            field_dict["model"] = model
        if world_size is not UNSET:
            field_dict["world_size"] = world_size

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.config_source_env import ConfigSourceEnv  # noqa: PLC0415
        from ..models.config_source_files import ConfigSourceFiles  # noqa: PLC0415
        from ..models.model_section import ModelSection  # noqa: PLC0415

        d = dict(src_dict)
        _format_ = d.pop("format", UNSET)
        format_: ConfigSourceFormat | Unset
        if isinstance(_format_, Unset):
            format_ = UNSET
        else:
            format_ = check_config_source_format(_format_)

        def _parse_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        text = _parse_text(d.pop("text", UNSET))

        _files = d.pop("files", UNSET)
        files: ConfigSourceFiles | Unset
        if isinstance(_files, Unset):
            files = UNSET
        else:
            files = ConfigSourceFiles.from_dict(_files)

        _env = d.pop("env", UNSET)
        env: ConfigSourceEnv | Unset
        if isinstance(_env, Unset):
            env = UNSET
        else:
            env = ConfigSourceEnv.from_dict(_env)

        argv = cast(list[str], d.pop("argv", UNSET))

        def _parse_model(data: object) -> ModelSection | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                model_type_0 = ModelSection.from_dict(data)

                return model_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelSection | None | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        def _parse_world_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        world_size = _parse_world_size(d.pop("world_size", UNSET))

        config_source = cls(
            format_=format_,
            text=text,
            files=files,
            env=env,
            argv=argv,
            model=model,
            world_size=world_size,
        )

        return config_source
