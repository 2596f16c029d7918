// SPDX-License-Identifier: Apache-2.0
/**
 * What a mailbox is and how it changes: plain values, and decisions without input and output.
 *
 * <p>{@link io.isolde.mail.store.MailboxChanges} decides, {@link
 * io.isolde.mail.store.MailboxWrites} makes it so: the only part in which stores differ. Package
 * {@code cql} keeps mailboxes in Cassandra, package {@code james} shows them to Apache James.
 */
package io.isolde.mail.store;
