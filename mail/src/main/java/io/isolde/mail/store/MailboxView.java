// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.List;

/**
 * What a decision knows of a mailbox.
 *
 * @param messages those that it asked for, by ascending UID
 * @param delivered those entries that it asked for and that are there
 */
public record MailboxView(
    Numbers numbers, List<StoredMessage> messages, List<Delivered> delivered) {}
