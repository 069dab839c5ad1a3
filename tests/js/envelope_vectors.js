// What ethers and viem make of vectors of signed envelopes. Usage: node envelope_vectors.js VECTORS.json, a list of
// {typed_data, signature}; prints a list of {ethers, viem}, each {digest, signer}, or null where it refuses.

import { readFileSync } from "node:fs";
import { TypedDataEncoder, recoverAddress } from "ethers";
import { hashTypedData, recoverAddress as recoverByViem } from "viem";

function byEthers({ types, domain, message }, signature) {
  const { EIP712Domain: _, ...structs } = types;
  const digest = TypedDataEncoder.hash(domain, structs, message);
  return { digest, signer: recoverAddress(digest, signature) };
}

async function byViem({ types, primaryType, domain, message }, signature) {
  const digest = hashTypedData({
    types,
    primaryType,
    domain: { ...domain, chainId: BigInt(domain.chainId) },
    message: { ...message, issuedAt: BigInt(message.issuedAt) },
  });
  return { digest, signer: await recoverByViem({ hash: digest, signature }) };
}

async function orNull(read) {
  try {
    return await read();
  } catch {
    return null;
  }
}

function opened(text) {
  const value = JSON.parse(text);
  return typeof value === "string" ? JSON.parse(value) : value;
}

const results = [];
for (const { typed_data: text, signature } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  results.push({
    ethers: await orNull(() => byEthers(opened(text), signature)),
    viem: await orNull(() => byViem(opened(text), signature)),
  });
}
console.log(JSON.stringify(results));
