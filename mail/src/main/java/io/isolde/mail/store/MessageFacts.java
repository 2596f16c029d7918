// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.time.Instant;
import java.util.UUID;

/**
 * What never changes of a message, in whichever mailboxes it is.
 *
 * @param threadId the message that the thread is named after
 * @param received in milliseconds, as IMAP's internal date
 * @param sizeBytes of header and body
 * @param bodyStart where the body starts, in bytes
 */
public record MessageFacts(
    UUID messageId, UUID threadId, Instant received, long sizeBytes, int bodyStart) {}
