// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Accounts} from "./Accounts.sol";
import {Actions} from "./Actions.sol";
import {Execution} from "./Execution.sol";
import {Groups} from "./Groups.sol";
import {Payers} from "./Payers.sol";
import {UsageKeys} from "./UsageKeys.sol";
import {Wallets} from "./Wallets.sol";

/// @title AccountConfig
/// @notice The contract at `contract_address` of `GET /get_node_chain_config`: one part per section of the
/// specification, over the state and the access rules in Access. It calls no other contract and holds no funds.
contract AccountConfig is Accounts, UsageKeys, Groups, Wallets, Actions, Execution {
    /// @param adminApiPayer_ The wallet that administers the payers; not zero.
    /// @param apiPayers_ The wallets that submit the writes of managed accounts; none of them zero.
    constructor(address adminApiPayer_, address[] memory apiPayers_) Payers(adminApiPayer_, apiPayers_) {}
}
