// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

/** What became of the flags of a message, which may have had them before. */
public record FlagChange(StoredFlags before, StoredMessage after) {}
