// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccountConfig} from "./IAccountConfig.sol";
import {OrderedSet} from "./OrderedSet.sol";

/// @title Payers
/// @notice The service's own wallets, which submit the writes of managed accounts.
/// @dev Specification, "Endpoints / Chain and payer information".
abstract contract Payers is IAccountConfig {
    using OrderedSet for OrderedSet.Set;

    address private _adminApiPayer;
    OrderedSet.Set private _apiPayers;

    constructor(address adminApiPayer_, address[] memory apiPayers_) {
        _setAdminApiPayer(adminApiPayer_);
        _setApiPayers(apiPayers_);
    }

    modifier onlyAdminPayer() {
        if (msg.sender != _adminApiPayer) revert AdminPayerOnly(msg.sender);
        _;
    }

    /// @notice Replaces the list of payers; duplicates count once.
    function setApiPayers(address[] calldata payers) external onlyAdminPayer {
        _setApiPayers(payers);
    }

    /// @notice Hands the administration of payers on.
    function setAdminApiPayer(address newAdminApiPayer) external onlyAdminPayer {
        _setAdminApiPayer(newAdminApiPayer);
    }

    /// @notice The payers, in the order given.
    function apiPayers() external view returns (address[] memory payers) {
        bytes32[] memory items = _apiPayers.all();
        payers = new address[](items.length);
        for (uint256 i = 0; i < items.length; ++i) payers[i] = address(uint160(uint256(items[i])));
    }

    /// @notice The wallet that administers the payers; it is a payer itself, listed or not.
    function adminApiPayer() external view returns (address) {
        return _adminApiPayer;
    }

    /// @dev Whether a wallet may submit writes for managed accounts.
    function _isPayer(address wallet) internal view returns (bool) {
        return wallet == _adminApiPayer || _apiPayers.contains(_item(wallet));
    }

    function _setAdminApiPayer(address newAdminApiPayer) private {
        if (newAdminApiPayer == address(0)) revert ZeroAddress();
        emit AdminApiPayerSet(_adminApiPayer, newAdminApiPayer);
        _adminApiPayer = newAdminApiPayer;
    }

    function _setApiPayers(address[] memory payers) private {
        _apiPayers.clear();
        for (uint256 i = 0; i < payers.length; ++i) {
            if (payers[i] == address(0)) revert ZeroAddress();
            _apiPayers.add(_item(payers[i]));
        }
        emit ApiPayersSet(payers);
    }

    function _item(address wallet) private pure returns (bytes32) {
        return bytes32(uint256(uint160(wallet)));
    }
}
