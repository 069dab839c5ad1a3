"""The chain in a file, for `--state`: accounts and slots as they are now, and every block with its receipt."""

from __future__ import annotations

import json
from pathlib import Path
from sqlite3 import Connection

from eth_typing import Address as EthAddress
from eth_typing import Hash32
from eth_utils.crypto import keccak

from reference_node.chain.evm_blocks import Block, Blocks, Mined
from reference_node.chain.evm_snapshot import Account
from reference_node.chain.evm_state import Changes
from reference_node.chain.interface import ChainUnavailable, Log, Receipt
from reference_node.kept_file import FileKind, KeptFile, StateError, StateUnavailable

CHAIN_FILE = FileKind(
    "chain",
    0x43484E31,
    """
    CREATE TABLE account (
        address BLOB PRIMARY KEY, balance BLOB NOT NULL, nonce INTEGER NOT NULL, code BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE slot (
        address BLOB, slot BLOB, value BLOB NOT NULL, PRIMARY KEY (address, slot)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE block (
        number INTEGER PRIMARY KEY, hash BLOB NOT NULL, timestamp INTEGER NOT NULL,
        raw BLOB NOT NULL, sender BLOB NOT NULL, receipt TEXT NOT NULL
    ) STRICT;
    """,
)

WORD_BYTES = 32


class ChainStore:
    """What a chain keeps. Not locked: the chain is."""

    def __init__(self, path: Path) -> None:
        """Raises `StateError`."""
        self._path = path
        self._file = KeptFile(path, CHAIN_FILE)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def accounts(self) -> dict[EthAddress, Account]:
        """All accounts with their slots."""
        found = {
            EthAddress(address): Account(int.from_bytes(balance), nonce, code, Hash32(keccak(code)))
            for address, balance, nonce, code in self._file.rows("SELECT address, balance, nonce, code FROM account")
        }
        for address, slot, value in self._file.rows("SELECT address, slot, value FROM slot"):
            if address not in found:
                raise self._damaged(f"0x{address.hex()} has slots and no account")
            found[address].storage[int.from_bytes(slot)] = int.from_bytes(value)
        return found

    def blocks(self) -> Blocks | None:
        """All blocks; `None` in a new file. Raises `StateError` where one does not follow from those before."""
        rows = self._file.rows("SELECT number, hash, timestamp, raw, sender, receipt FROM block ORDER BY number")
        blocks: Blocks | None = None
        for number, block_hash, timestamp, raw, sender, receipt in rows:
            try:
                if blocks is None:
                    blocks = Blocks(timestamp)
                else:
                    blocks.add(blocks.next(timestamp, _mined(number, raw, sender, receipt)))
            except (ValueError, TypeError, KeyError, OverflowError):
                raise self._damaged(f"block {number} is nonsense") from None
            if (blocks.latest.number, blocks.latest.hash) != (number, block_hash):
                raise self._damaged(f"block {number} does not follow from those before it")
        return blocks

    def save(self, changes: Changes, block: Block | None) -> None:
        """Keep what has changed, and the block that changed it. Raises `ChainUnavailable`, and then nothing is kept."""
        try:
            with self._file.transaction() as database:
                _save_accounts(database, changes)
                if block is not None:
                    mined = block.transaction
                    database.execute(
                        "INSERT INTO block (number, hash, timestamp, raw, sender, receipt) VALUES (?, ?, ?, ?, ?, ?) "
                        "ON CONFLICT (number) DO NOTHING",
                        (block.number, block.hash, block.timestamp)
                        + ((mined.raw, mined.sender, _written(mined)) if mined else (b"", b"", "")),
                    )
        except StateUnavailable as fault:
            raise ChainUnavailable(str(fault)) from fault

    def _damaged(self, reason: str) -> StateError:
        return StateError(f"{self._path} is damaged ({reason}): restore a copy of the whole folder, or name another")


def _save_accounts(database: Connection, changes: Changes) -> None:
    for address in changes.emptied:
        database.execute("DELETE FROM slot WHERE address = ?", (address,))
    for address, account in changes.accounts.items():
        if account is None:
            database.execute("DELETE FROM account WHERE address = ?", (address,))
        else:
            balance = account.balance.to_bytes(WORD_BYTES, "big")
            database.execute(
                "INSERT OR REPLACE INTO account (address, balance, nonce, code) VALUES (?, ?, ?, ?)",
                (address, balance, account.nonce, account.code),
            )
    for (address, slot), value in changes.slots.items():
        key = (address, slot.to_bytes(WORD_BYTES, "big"))
        if value:
            row = (*key, value.to_bytes(WORD_BYTES, "big"))
            database.execute("INSERT OR REPLACE INTO slot (address, slot, value) VALUES (?, ?, ?)", row)
        else:
            database.execute("DELETE FROM slot WHERE address = ? AND slot = ?", key)


def _written(mined: Mined) -> str:
    """What of a mined transaction does not follow from its bytes."""
    receipt = mined.receipt
    return json.dumps(
        {
            "succeeded": receipt.succeeded,
            "gas_used": receipt.gas_used,
            "gas_price": mined.effective_gas_price,
            "contract": receipt.contract_address.hex() if receipt.contract_address else None,
            "revert": receipt.revert_data.hex(),
            "logs": [
                [log.address.hex(), [topic.hex() for topic in log.topics], log.data.hex()] for log in receipt.logs
            ],
        }
    )


def _mined(number: int, raw: bytes, sender: bytes, receipt: str) -> Mined:
    told = json.loads(receipt)
    logs = (
        Log(bytes.fromhex(address), tuple(map(bytes.fromhex, topics)), bytes.fromhex(data))
        for address, topics, data in told["logs"]
    )
    return Mined(
        raw,
        sender,
        Receipt(
            transaction_hash=keccak(raw),
            block_number=number,
            succeeded=told["succeeded"],
            gas_used=told["gas_used"],
            logs=tuple(logs),
            contract_address=bytes.fromhex(told["contract"]) if told["contract"] else None,
            revert_data=bytes.fromhex(told["revert"]),
        ),
        told["gas_price"],
    )
