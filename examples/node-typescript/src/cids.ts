/** IPFS content identifiers of actions: computed (CID version 1, raw codec, sha2-256), read and hashed. */

import { createHash } from "node:crypto";
import { keccak256, toUtf8Bytes } from "ethers";
import { invalid } from "./problems.js";
import type { Reader } from "./fields.js";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
/** Version 1, raw codec, sha2-256, 32 bytes. */
const CID_PREFIX = Buffer.from([0x01, 0x55, 0x12, 0x20]);

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((chunk) => BASE32[parseInt(chunk.padEnd(5, "0"), 2)]).join("");
}

/** The CID under which `ipfs add --cid-version=1` would pin this code. */
export function cidOf(code: string): string {
  const digest = createHash("sha256").update(code, "utf8").digest();
  return `b${base32(Buffer.concat([CID_PREFIX, digest]))}`;
}

/** keccak256 of the CID as written. */
export const hashedCid = (cid: string): string => keccak256(toUtf8Bytes(cid));

/** A CID string of version 0 or of version 1 in base32. */
export const rawCid: Reader<string> = {
  schema: { type: "string" },
  optional: false,
  read(value, field) {
    if (typeof value !== "string" || !/^(Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{20,120})$/.test(value)) {
      throw invalid(field, "an IPFS CID");
    }
    return value;
  },
};
