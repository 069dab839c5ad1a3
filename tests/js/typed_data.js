// Digests and signatures of typed data by ethers and viem. Usage: node typed_data.js CASES.json, a list of
// {privateKey, typedData}; prints a list of {digests, signatures}, ethers' first.

import { readFileSync } from "node:fs";
import { TypedDataEncoder, Wallet } from "ethers";
import { hashTypedData } from "viem";
import { privateKeyToAccount } from "viem/accounts";

// Integers over 2^53 come as strings; viem wants them as bigint, ethers takes any form.
function withBigInts({ types, primaryType, domain, message }) {
  return {
    types,
    primaryType,
    domain: { ...domain, chainId: BigInt(domain.chainId) },
    message: { ...message, issuedAt: BigInt(message.issuedAt) },
  };
}

async function byEthers(privateKey, { types, domain, message }) {
  const { EIP712Domain: _, ...structs } = types;
  const signature = await new Wallet(privateKey).signTypedData(domain, structs, message);
  return [TypedDataEncoder.hash(domain, structs, message), signature];
}

async function byViem(privateKey, typedData) {
  const given = withBigInts(typedData);
  return [hashTypedData(given), await privateKeyToAccount(privateKey).signTypedData(given)];
}

const cases = JSON.parse(readFileSync(process.argv[2], "utf8"));
const results = [];
for (const { privateKey, typedData } of cases) {
  const both = await Promise.all([byEthers(privateKey, typedData), byViem(privateKey, typedData)]);
  results.push({ digests: both.map(([digest]) => digest), signatures: both.map(([, signature]) => signature) });
}
console.log(JSON.stringify(results));
