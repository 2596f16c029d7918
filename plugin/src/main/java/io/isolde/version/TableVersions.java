// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

/** All that a replica keeps of one transactional table's past, and how far back it reaches. */
public record TableVersions(
    VersionStore store, SSTableRetention retention, Horizon horizon, ChangeLog changes) {}
