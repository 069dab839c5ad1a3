"""TCB info and QE identity: what level a platform reaches, and with which status.

Intel PCS API v4, "Get TDX TCB Info" and "Get TDX QE Identity". The quote library decides the same; both must agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.verify.pck import PckExtension
from conformance.verify.policy import TcbStatus
from conformance.verify.quote import QeReport, TdReport
from conformance.verify.strict import hex_bytes, text_member


@dataclass(frozen=True)
class Level:
    """A TCB level: what it takes, and what it means to reach it."""

    sgx: bytes
    pcesvn: int
    tdx: bytes
    status: TcbStatus
    advisories: tuple[str, ...]
    date: str


@dataclass(frozen=True)
class IsvLevel:
    """A level of an enclave or of the TDX module, by its ISV SVN."""

    isvsvn: int
    status: TcbStatus
    advisories: tuple[str, ...]
    date: str


@dataclass(frozen=True)
class Module:
    """The TDX module: who signed it, with which attributes."""

    mrsigner: bytes
    attributes: bytes
    mask: bytes
    levels: tuple[IsvLevel, ...] = ()


@dataclass(frozen=True)
class TcbInfo:
    """TCB info of a platform family."""

    id: str
    version: int
    tcb_type: int
    fmspc: bytes
    pceid: bytes
    levels: tuple[Level, ...]
    module: Module
    """Of module version 0."""
    modules: Mapping[str, Module]
    """Of later ones, by identity such as `TDX_01`."""


@dataclass(frozen=True)
class QeIdentity:
    """Which quoting enclave is the vendor's."""

    id: str
    version: int
    miscselect: bytes
    miscselect_mask: bytes
    attributes: bytes
    attributes_mask: bytes
    mrsigner: bytes
    isvprodid: int
    levels: tuple[IsvLevel, ...]


@dataclass(frozen=True)
class TcbVerdict:
    """Status of platform, TDX module and quoting enclave together."""

    status: TcbStatus
    advisories: tuple[str, ...]
    dates: tuple[str, ...]
    """`tcbDate` of the levels that were reached, as the collateral writes it."""


def _integer(members: Mapping[str, object], name: str, limit: int = 0xFFFFFFFF) -> int:
    value = members.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
        raise ValueError(f"{name} is no integer from 0 to {limit}")
    return value


def _objects(members: Mapping[str, object], name: str) -> list[dict[str, object]]:
    value = members.get(name)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"{name} is no list of objects")
    return value


def _object(members: Mapping[str, object], name: str) -> dict[str, object]:
    value = members.get(name)
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no object")  # noqa: TRY004 - a fault of the text, not of a caller
    return value


def _advisories(level: dict[str, object]) -> tuple[str, ...]:
    value = level.get("advisoryIDs", [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("advisoryIDs is no list of texts")
    return tuple(value)


def _svns(tcb: dict[str, object], name: str) -> bytes:
    components = _objects(tcb, name)
    if len(components) != 16:
        raise ValueError(f"{name} has {len(components)} components where 16 belong")
    return bytes(_integer(component, "svn", 255) for component in components)


def _level(level: dict[str, object]) -> Level:
    tcb = _object(level, "tcb")
    return Level(
        _svns(tcb, "sgxtcbcomponents"),
        _integer(tcb, "pcesvn", 0xFFFF),
        _svns(tcb, "tdxtcbcomponents"),
        _status(level),
        _advisories(level),
        str(level.get("tcbDate")),
    )


def _status(level: dict[str, object]) -> TcbStatus:
    """A status of TCB info or QE identity. That a TD should be launched again is found, never stated."""
    status = TcbStatus(text_member(level, "tcbStatus"))
    if status in {TcbStatus.TD_RELAUNCH_ADVISED, TcbStatus.TD_RELAUNCH_ADVISED_CONFIGURATION_NEEDED}:
        raise ValueError(f"{status} is no status of a level")
    return status


def _isv_level(level: dict[str, object]) -> IsvLevel:
    isvsvn = _integer(_object(level, "tcb"), "isvsvn", 0xFFFF)
    return IsvLevel(isvsvn, _status(level), _advisories(level), str(level.get("tcbDate")))


def _module(document: dict[str, object], levels: tuple[IsvLevel, ...] = ()) -> Module:
    return Module(
        hex_bytes(text_member(document, "mrsigner"), 48),
        hex_bytes(text_member(document, "attributes"), 8),
        hex_bytes(text_member(document, "attributesMask"), 8),
        levels,
    )


def read_tcb_info(document: dict[str, object]) -> TcbInfo:
    """Read TCB info for TDX, version 3. ValueError: it is none."""
    modules: dict[str, Module] = {}
    for identity in _objects(document, "tdxModuleIdentities") if "tdxModuleIdentities" in document else []:
        name = text_member(identity, "id").upper()
        if name in modules:
            raise ValueError(f"the TDX module identity {name!r} stands twice")
        modules[name] = _module(identity, tuple(map(_isv_level, _objects(identity, "tcbLevels"))))
    info = TcbInfo(
        id=text_member(document, "id"),
        version=_integer(document, "version"),
        tcb_type=_integer(document, "tcbType"),
        fmspc=hex_bytes(text_member(document, "fmspc"), 6),
        pceid=hex_bytes(text_member(document, "pceId"), 2),
        levels=tuple(map(_level, _objects(document, "tcbLevels"))),
        module=_module(_object(document, "tdxModule")),
        modules=modules,
    )
    if info.id != "TDX" or info.version != 3 or info.tcb_type != 0:
        raise ValueError(
            f"TCB info {info.id!r} version {info.version} type {info.tcb_type}, where TDX 3 type 0 belongs"
        )
    return info


def read_qe_identity(document: dict[str, object]) -> QeIdentity:
    """Read the QE identity for TDX, version 2. ValueError: it is none."""
    identity = QeIdentity(
        id=text_member(document, "id"),
        version=_integer(document, "version"),
        miscselect=hex_bytes(text_member(document, "miscselect"), 4),
        miscselect_mask=hex_bytes(text_member(document, "miscselectMask"), 4),
        attributes=hex_bytes(text_member(document, "attributes"), 16),
        attributes_mask=hex_bytes(text_member(document, "attributesMask"), 16),
        mrsigner=hex_bytes(text_member(document, "mrsigner"), 32),
        isvprodid=_integer(document, "isvprodid", 0xFFFF),
        levels=tuple(map(_isv_level, _objects(document, "tcbLevels"))),
    )
    if identity.id != "TD_QE" or identity.version != 2:
        raise ValueError(f"QE identity {identity.id!r} version {identity.version}, where TD_QE 2 belongs")
    return identity


def _masked(value: bytes, mask: bytes) -> bytes:
    return bytes(a & b for a, b in zip(value, mask, strict=True))


def qe_fault(report: QeReport, identity: QeIdentity) -> str | None:
    """How the quoting enclave differs from its identity."""
    if report.mr_signer != identity.mrsigner:
        return f"MRSIGNER {report.mr_signer.hex()} is not {identity.mrsigner.hex()}"
    if report.isv_prod_id != identity.isvprodid:
        return f"ISVPRODID {report.isv_prod_id} is not {identity.isvprodid}"
    if _masked(report.attributes, identity.attributes_mask) != _masked(identity.attributes, identity.attributes_mask):
        return f"attributes {report.attributes.hex()} are not {identity.attributes.hex()} under the mask"
    if _masked(report.miscselect, identity.miscselect_mask) != _masked(identity.miscselect, identity.miscselect_mask):
        return f"MISCSELECT {report.miscselect.hex()} is not {identity.miscselect.hex()} under the mask"
    return None


def module_fault(report: TdReport, info: TcbInfo) -> str | None:
    """How the TDX module of a report differs from the one that TCB info names for its version."""
    module = info.modules.get(_module_id(report.tee_tcb_svn), info.module)
    if report.mr_signer_seam != module.mrsigner:
        return f"MRSIGNERSEAM {report.mr_signer_seam.hex()} is not {module.mrsigner.hex()}"
    if report.seam_attributes != _masked(module.attributes, module.mask):
        return (
            f"SEAMATTRIBUTES {report.seam_attributes.hex()} are not {module.attributes.hex()} under {module.mask.hex()}"
        )
    return None


def _module_id(tee_svn: bytes) -> str:
    return f"TDX_{tee_svn[1]:02X}" if tee_svn[1] else ""


def _reaches(svns: bytes, required: bytes) -> bool:
    return all(have >= need for have, need in zip(svns, required, strict=True))


def _platform_level(info: TcbInfo, pck: PckExtension, tee_svn: bytes) -> Level | None:
    """The highest level that the platform reaches. A module version other than 0 is judged by its own identity."""
    first = 2 if tee_svn[1] else 0
    for level in sorted(info.levels, key=lambda level: (level.sgx, level.pcesvn, level.tdx), reverse=True):
        if (
            _reaches(pck.components, level.sgx)
            and pck.pcesvn >= level.pcesvn
            and _reaches(tee_svn[first:], level.tdx[first:])
        ):
            return level
    return None


def _isv(levels: Sequence[IsvLevel], isvsvn: int) -> IsvLevel | None:
    return next((level for level in levels if isvsvn >= level.isvsvn), None)


_CONFIGURATION = {
    TcbStatus.CONFIGURATION_NEEDED,
    TcbStatus.CONFIGURATION_AND_SW_HARDENING_NEEDED,
    TcbStatus.OUT_OF_DATE_CONFIGURATION_NEEDED,
}
_CURRENT = {
    TcbStatus.UP_TO_DATE,
    TcbStatus.SW_HARDENING_NEEDED,
    TcbStatus.CONFIGURATION_NEEDED,
    TcbStatus.CONFIGURATION_AND_SW_HARDENING_NEEDED,
}


def _together(platform: TcbStatus, component: TcbStatus) -> TcbStatus:
    """A platform's status with that of its TDX module or quoting enclave."""
    if component is TcbStatus.REVOKED:
        return component
    if component is TcbStatus.OUT_OF_DATE and platform in _CURRENT:
        return TcbStatus.OUT_OF_DATE_CONFIGURATION_NEEDED if platform in _CONFIGURATION else TcbStatus.OUT_OF_DATE
    return platform


def _tdx(info: TcbInfo, pck: PckExtension, tee_svn: bytes) -> TcbVerdict:
    level = _platform_level(info, pck, tee_svn)
    if level is None:
        raise ValueError(
            f"no TCB level for components {pck.components.hex()}, PCESVN {pck.pcesvn}, TEE {tee_svn.hex()}"
        )
    if not tee_svn[1]:
        return TcbVerdict(level.status, level.advisories, (level.date,))
    name = _module_id(tee_svn)
    module = info.modules.get(name)
    reached = None if module is None else _isv(module.levels, tee_svn[0])
    if reached is None:
        raise ValueError(f"no level of the TDX module identity {name} for ISVSVN {tee_svn[0]}")
    dates = (level.date, reached.date)
    return TcbVerdict(_together(level.status, reached.status), level.advisories + reached.advisories, dates)


def evaluate(info: TcbInfo, identity: QeIdentity, pck: PckExtension, report: TdReport, qe: QeReport) -> TcbVerdict:
    """Status of the whole. ValueError: no level matches."""
    qe_level = _isv(identity.levels, qe.isv_svn)
    if qe_level is None:
        raise ValueError(f"no level of the QE identity for ISVSVN {qe.isv_svn}")
    platform = _tdx(info, pck, report.tee_tcb_svn)
    status = _together(platform.status, qe_level.status)
    advisories = tuple(dict.fromkeys(platform.advisories + qe_level.advisories))
    if report.tee_tcb_svn2 is not None:
        current = _together(_tdx(info, pck, report.tee_tcb_svn2).status, qe_level.status)
        status = _with_current(status, current)
    return TcbVerdict(status, advisories, (*platform.dates, qe_level.date))


def _with_current(launch: TcbStatus, current: TcbStatus) -> TcbStatus:
    """A TD 1.5 launched on an old TCB that has been updated since should be launched again."""
    if current is TcbStatus.REVOKED:
        return current
    out_of_date = {TcbStatus.OUT_OF_DATE, TcbStatus.OUT_OF_DATE_CONFIGURATION_NEEDED}
    if launch not in out_of_date or current not in _CURRENT:
        return launch
    if {launch, current} & _CONFIGURATION:
        return TcbStatus.TD_RELAUNCH_ADVISED_CONFIGURATION_NEEDED
    return TcbStatus.TD_RELAUNCH_ADVISED
