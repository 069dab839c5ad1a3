// viem against the node's JSON-RPC: deploy, read, write, logs, filters, custom errors, fees, batches, overrides.

import {
  ContractFunctionRevertedError,
  NonceTooLowError,
  InsufficientFundsError,
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseEther,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { abi, bytecode, check, privateKey, same, url } from "./artifact.js";

const chain = defineChain({
  id: 31337,
  name: "service",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [url] } },
});
const transport = http(url, { batch: true, retryCount: 0 });
const account = privateKeyToAccount(privateKey);
const reader = createPublicClient({ chain, transport, pollingInterval: 50, cacheTime: 0 });
const writer = createWalletClient({ account, chain, transport });

async function mined(hash) {
  return reader.waitForTransactionReceipt({ hash, timeout: 60_000 });
}

async function refusal(promise, kind) {
  try {
    await promise;
  } catch (error) {
    const cause = error.walk((inner) => inner instanceof kind);
    check(cause, `an unexpected error: ${error}`);
    return cause;
  }
  throw new Error("the call was not refused");
}

const creation = await mined(await writer.deployContract({ abi, bytecode }));
same([creation.status, creation.to], ["success", null], "creation");
const address = creation.contractAddress;
check((await reader.getCode({ address })).length > 2, "no code was deployed");

// Writes, logs and events, and filters that tell of what comes.
const filter = await reader.createContractEventFilter({ abi, address, eventName: "Counted" });
const blocks = await reader.createBlockFilter();
const receipt = await mined(await writer.writeContract({ abi, address, functionName: "count", args: [11n, 22n] }));
same(receipt.status, "success", "status");
const changes = await reader.getFilterChanges({ filter });
same(changes.map((log) => log.args), [{ first: 11n, second: 22n, total: 1n }], "new logs of a filter");
same((await reader.getFilterChanges({ filter })).length, 0, "logs are told once");
same(await reader.getFilterChanges({ filter: blocks }), [receipt.blockHash], "new blocks of a filter");
same(await reader.uninstallFilter({ filter }), true, "filter removed");
for (const [first, expected] of [[11n, 1], [12n, 0]]) {
  const found = await reader.getContractEvents({ abi, address, eventName: "Counted", args: { first }, fromBlock: 0n });
  same(found.length, expected, `events with topic ${first}`);
}
same((await reader.getLogs({ blockHash: receipt.blockHash, address })).length, 1, "logs by block hash");

// Custom errors, from a simulation and from a write.
for (const attempt of [
  reader.simulateContract({ abi, address, functionName: "refuse", account }),
  writer.writeContract({ abi, address, functionName: "refuse" }),
]) {
  const { data } = await refusal(attempt, ContractFunctionRevertedError);
  same([data.errorName, ...data.args], ["Refused", 7n, account.address], "custom error");
}

// A write that is mined and fails.
const doomed = await writer.writeContract({ abi, address, functionName: "refuse", gas: 200_000n });
same((await mined(doomed)).status, "reverted", "status of a failed write");

// The usual questions, all at once: this transport sends them as one batch.
const to = privateKeyToAccount(generatePrivateKey()).address;
const [id, block, fees, nonce, balance, history, gas] = await Promise.all([
  reader.getChainId(),
  reader.getBlock({ includeTransactions: true }),
  reader.estimateFeesPerGas(),
  reader.getTransactionCount({ address: account.address }),
  reader.getBalance({ address: to }),
  reader.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] }),
  reader.estimateGas({ account, to, value: 1n }),
]);
same([id, nonce, balance, gas], [31337, 3, 0n, 21000n], "chain id, nonce, balance, gas");
same(block.transactions[0].hash, doomed, "transaction of the latest block");
check(fees.maxFeePerGas > 0n, "no fees");
same(history.baseFeePerGas.length, 3, "base fees of two blocks");

// A call that pretends an account to be what it is not.
const { data } = await reader.call({
  to,
  stateOverride: [{ address: to, balance: 5n, code: "0x4760005260206000f3" }],
});
same(BigInt(data), 5n, "pretended balance");

for (const type of ["legacy", "eip2930", "eip1559"]) {
  const hash = await writer.sendTransaction({ to, value: parseEther("1"), type });
  await mined(hash);
  const read = await reader.getTransaction({ hash });
  same([read.type, read.value], [type, parseEther("1")], `transaction of type ${type}`);
}
same(await reader.getBalance({ address: to }), parseEther("3"), "balance after three transfers");

// An account that delegates to the contract.
const delegate = privateKeyToAccount(generatePrivateKey());
const authorization = await reader
  .getTransactionCount({ address: delegate.address })
  .then((nonce) => delegate.signAuthorization({ contractAddress: address, chainId: 31337, nonce }));
const set = await mined(
  await writer.sendTransaction({ to: delegate.address, authorizationList: [authorization] }),
);
same(set.type, "eip7702", "type of the transaction that delegates");
same(await reader.getCode({ address: delegate.address }), `0xef0100${address.slice(2).toLowerCase()}`, "delegation");

// Refusals of a transaction.
await refusal(writer.sendTransaction({ to, nonce: 0, gas: 21000n }), NonceTooLowError);
const poor = createWalletClient({ account: privateKeyToAccount(generatePrivateKey()), chain, transport });
await refusal(poor.sendTransaction({ to, value: 1n, gas: 21000n }), InsufficientFundsError);

console.log("viem: well");
