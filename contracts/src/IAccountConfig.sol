// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title IAccountConfig
/// @notice The on-chain home of all permission state: accounts, usage API keys, wallets (PKPs), groups and actions.
/// @dev Specification, "What the service does" item 5 and "Resources and their fields". Words used throughout:
/// - key hash: keccak256 of a key's 32 decoded bytes, as uint256. An account's own hash (`apiKeyHash`) is its account
///   hash. Every administrative write takes the hash of the acting key first.
/// - PKP id: keccak256 of the packed 20-byte wallet address.
/// - CID hash: keccak256 of the UTF-8 text of the raw CID.
/// - wildcard: bytes32(0) in a group's two lists, 0 in a permission array. No group, wallet or action has the value 0.
interface IAccountConfig {
    /// @notice Specification, "Resources / Group".
    struct Group {
        uint64 id;
        string name;
        string description;
    }

    /// @notice Specification, "Resources / Wallet (PKP)". All zero and empty where a group lists the wildcard.
    struct Wallet {
        bytes32 id;
        address walletAddress;
        uint256 derivationPath;
        string name;
        string description;
    }

    /// @notice Specification, "Resources / Action". Name and description are empty for a CID that a group lists
    /// without the account having registered it.
    struct Action {
        bytes32 cidHash;
        string name;
        string description;
    }

    /// @notice Specification, "Resources / Usage API key".
    /// @dev `expiration` is in Unix seconds, 0 is never. `balance` is stored and listed only. Views give each array
    /// without duplicates in ascending order, the wildcard first.
    struct UsageKey {
        uint256 keyHash;
        uint256 expiration;
        uint256 balance;
        string name;
        string description;
        bool canCreateGroups;
        bool canDeleteGroups;
        bool canCreatePkps;
        uint64[] manageIpfsIdsInGroups;
        uint64[] addPkpToGroups;
        uint64[] removePkpFromGroups;
        uint64[] executeInGroups;
    }

    // ---- refusals ----

    /// @notice A managed account is written by payers, an unmanaged one by its admin wallet; `sender` is neither.
    error SenderNotPermitted(uint256 accountHash, address sender);
    /// @notice No account has this hash.
    error AccountUnknown(uint256 accountHash);
    /// @notice An account with this hash exists already.
    error AccountExists(uint256 accountHash);
    /// @notice The account is unmanaged already; there is no way back and no second conversion.
    error AlreadyChainSecured(uint256 accountHash);
    /// @notice The acting key belongs to no account.
    error KeyUnknown(uint256 keyHash);
    /// @notice The acting usage key has expired.
    error KeyExpired(uint256 keyHash, uint256 expiration);
    /// @notice The hash is taken: by an account, or by a usage key of another account.
    error KeyHashInUse(uint256 keyHash);
    /// @notice Only the account's own hash may do this; `keyHash` is a usage key.
    error OwnerOnly(uint256 keyHash);
    /// @notice The usage key lacks a scope, named as in "Scopes"; `groupId` is 0 for an account-wide one.
    error ScopeMissing(uint256 keyHash, string scope, uint64 groupId);
    /// @notice The account has no such group.
    error GroupUnknown(uint256 accountHash, uint64 groupId);
    /// @notice The account has no such wallet.
    error WalletUnknown(uint256 accountHash, bytes32 pkpId);
    /// @notice The wallet is registered in the account already.
    error WalletExists(uint256 accountHash, bytes32 pkpId);
    /// @notice The account has not registered this action.
    error ActionUnknown(uint256 accountHash, bytes32 cidHash);
    /// @notice The account has registered this action already.
    error ActionExists(uint256 accountHash, bytes32 cidHash);
    /// @notice The account has no such usage key.
    error UsageKeyUnknown(uint256 accountHash, uint256 keyHash);
    /// @notice The group lists this PKP id or CID hash already.
    error AlreadyInGroup(uint64 groupId, bytes32 item);
    /// @notice The group does not list this PKP id or CID hash.
    error NotInGroup(uint64 groupId, bytes32 item);
    /// @notice An address argument is zero.
    error ZeroAddress();
    /// @notice A hash argument is zero where zero would be taken for "none" or for the wildcard.
    error ZeroHash();
    /// @notice A page holds 1 to 100 items.
    error PageSizeOutOfRange(uint256 pageSize);
    /// @notice Only the admin payer may do this.
    error AdminPayerOnly(address sender);

    // ---- events: one for every change of state ----

    /// @notice An account came into being, managed or not.
    event AccountCreated(
        uint256 indexed accountHash, address indexed adminWalletAddress, bool managed, string name, string description
    );
    /// @notice A managed account became unmanaged; everything that belongs to it stays.
    event AccountConverted(
        uint256 indexed accountHash, address indexed formerAdminWalletAddress, address indexed adminWalletAddress
    );
    /// @notice A wallet was registered to an account.
    event WalletRegistered(
        uint256 indexed accountHash,
        bytes32 indexed pkpId,
        address indexed walletAddress,
        uint256 derivationPath,
        string name,
        string description
    );
    /// @notice A usage key was attached, or all its values were replaced; the arrays are as given.
    event UsageApiKeySet(uint256 indexed accountHash, uint256 indexed keyHash, UsageKey key);
    /// @notice A usage key's labels and permissions were replaced; the arrays are as given.
    event UsageApiKeyUpdated(uint256 indexed accountHash, uint256 indexed keyHash, UsageKey key);
    /// @notice A usage key's labels were replaced.
    event UsageApiKeyMetadataUpdated(
        uint256 indexed accountHash, uint256 indexed keyHash, string name, string description
    );
    /// @notice A usage key was removed.
    event UsageApiKeyRemoved(uint256 indexed accountHash, uint256 indexed keyHash);
    /// @notice A group was created; the lists are as given, duplicates count once.
    event GroupAdded(
        uint256 indexed accountHash,
        uint64 indexed groupId,
        string name,
        string description,
        bytes32[] pkpIds,
        bytes32[] cidHashes
    );
    /// @notice A group's labels and both lists were replaced; the lists are as given, duplicates count once.
    event GroupUpdated(
        uint256 indexed accountHash,
        uint64 indexed groupId,
        string name,
        string description,
        bytes32[] pkpIds,
        bytes32[] cidHashes
    );
    /// @notice A group was removed, and with it its id from every permission array.
    event GroupRemoved(uint256 indexed accountHash, uint64 indexed groupId);
    /// @notice A group lists one more CID hash.
    event ActionAddedToGroup(uint256 indexed accountHash, uint64 indexed groupId, bytes32 indexed cidHash);
    /// @notice A group lists one CID hash less.
    event ActionRemovedFromGroup(uint256 indexed accountHash, uint64 indexed groupId, bytes32 indexed cidHash);
    /// @notice A group lists one more PKP id.
    event PkpAddedToGroup(uint256 indexed accountHash, uint64 indexed groupId, bytes32 indexed pkpId);
    /// @notice A group lists one PKP id less.
    event PkpRemovedFromGroup(uint256 indexed accountHash, uint64 indexed groupId, bytes32 indexed pkpId);
    /// @notice An action's labels were registered.
    event ActionAdded(uint256 indexed accountHash, bytes32 indexed cidHash, string name, string description);
    /// @notice An action's labels were replaced.
    event ActionMetadataUpdated(uint256 indexed accountHash, bytes32 indexed cidHash, string name, string description);
    /// @notice An action was deleted, and with it its CID hash from every group of the account.
    event ActionDeleted(uint256 indexed accountHash, bytes32 indexed cidHash);
    /// @notice The list of payers was replaced.
    event ApiPayersSet(address[] payers);
    /// @notice The admin payer was replaced.
    event AdminApiPayerSet(address indexed formerAdminApiPayer, address indexed adminApiPayer);
}
