// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.util.OptionalLong;
import java.util.UUID;

/**
 * How a transaction ended.
 *
 * @param transactionId the transaction
 * @param committed what the server's row says
 * @param commitTimestamp the timestamp of the commit, on the oracle's scale; empty if nothing was
 *     committed, as with a transaction that only read
 */
public record CommitResult(UUID transactionId, boolean committed, OptionalLong commitTimestamp) {}
