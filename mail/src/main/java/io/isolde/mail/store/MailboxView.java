// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.List;

/**
 * What a decision knows of a mailbox.
 *
 * @param messages those that it asked for, by ascending UID
 */
public record MailboxView(Numbers numbers, List<StoredMessage> messages) {}
