// ethers 6 against the node's JSON-RPC: deploy, call, write, logs, filters, custom errors, fees, batches.

import { ContractFactory, Interface, JsonRpcProvider, Wallet, isError, parseEther } from "ethers";
import { abi, bytecode, check, privateKey, same, url } from "./artifact.js";

const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1, pollingInterval: 50 });
const wallet = new Wallet(privateKey, provider);

async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("the call was not refused");
}

const factory = new ContractFactory(abi, bytecode, wallet);
const contract = await factory.deploy();
const creation = (await contract.deploymentTransaction().wait()).toJSON();
same(creation.to, null, "recipient of a creation");
check((await provider.getCode(await contract.getAddress())) !== "0x", "no code was deployed");

// Writes, logs and events.
const receipt = await (await contract.count(11n, 22n)).wait();
same(receipt.status, 1, "status");
const event = receipt.logs.map((log) => contract.interface.parseLog(log))[0];
same([event.name, ...event.args], ["Counted", 11n, 22n, 1n], "event of the receipt");
const found = await contract.queryFilter(contract.filters.Counted(11n), 0, "latest");
same(found.map((log) => log.args.total), [1n], "events by topic");
const inBlock = await provider.getLogs({ address: await contract.getAddress(), blockHash: receipt.blockHash });
same(inBlock.length, 1, "logs by block hash");
same((await contract.queryFilter(contract.filters.Counted(12n), 0, "latest")).length, 0, "events of another topic");

// A listener is told of what comes.
const told = new Promise((resolve) => contract.once("Counted", (first) => resolve(first)));
await new Promise((resolve) => setTimeout(resolve, 150));
await (await contract.count(5n, 6n)).wait();
same(await told, 5n, "what the listener heard");

// Custom errors, from a call, from an estimate, and decoded.
for (const attempt of [contract.refuse.staticCall(), contract.refuse()]) {
  const error = await refusal(attempt);
  check(isError(error, "CALL_EXCEPTION"), `an unexpected error: ${error}`);
  const told = contract.interface.parseError(error.data);
  same([told.name, ...told.args], ["Refused", 7n, wallet.address], "custom error");
}

// A write that is mined and fails.
const doomed = await wallet.sendTransaction({
  to: await contract.getAddress(),
  data: new Interface(abi).encodeFunctionData("refuse"),
  gasLimit: 200000,
});
const failure = await refusal(doomed.wait());
same(failure.receipt.status, 0, "status of a failed write");

// The usual questions, all at once: ethers sends them as one batch.
const to = Wallet.createRandom().address;
const [network, block, fees, nonce, balance, history] = await Promise.all([
  provider.getNetwork(),
  provider.getBlock("latest", true),
  provider.getFeeData(),
  provider.getTransactionCount(wallet.address),
  provider.getBalance(to),
  provider.send("eth_feeHistory", ["0x2", "latest", [50]]),
]);
same(network.chainId, 31337n, "chain id");
same(block.prefetchedTransactions[0].hash, doomed.hash, "transaction of the latest block");
check(fees.maxFeePerGas > 0n && fees.maxPriorityFeePerGas > 0n, "no fees");
same(nonce, 4, "nonce");
same(balance, 0n, "balance");
same(history.baseFeePerGas.length, 3, "base fees of two blocks");

for (const type of [0, 1, 2]) {
  const sent = await wallet.sendTransaction({ to, value: parseEther("1"), type });
  await sent.wait();
  const read = await provider.getTransaction(sent.hash);
  same([read.type, read.from, read.value], [type, wallet.address, parseEther("1")], `transaction of type ${type}`);
}
same(await provider.getBalance(to), parseEther("3"), "balance after three transfers");

// Refusals of a transaction.
const used = await refusal(wallet.sendTransaction({ to, nonce: 0 }));
check(isError(used, "NONCE_EXPIRED"), `an unexpected error: ${used}`);
const poor = await refusal(Wallet.createRandom(provider).sendTransaction({ to, value: 1n, gasLimit: 21000 }));
check(isError(poor, "INSUFFICIENT_FUNDS"), `an unexpected error: ${poor}`);

provider.destroy();
console.log("ethers: well");
