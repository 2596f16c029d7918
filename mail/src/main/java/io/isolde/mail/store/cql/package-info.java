// SPDX-License-Identifier: Apache-2.0
/**
 * Mailboxes in tables. {@link io.isolde.mail.store.cql.MailboxStore} opens them; the tables and the
 * reads are the same for all stores, and each way to write is a class.
 */
package io.isolde.mail.store.cql;
