// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail;

/**
 * By what means a {@link MailStore} keeps its counts, numbers and names right. The tables and the
 * code above are the same for all; docs/mail.md says what each guarantees.
 */
public enum MailConsistency {
  /** Transactional tables of Isolde: each change is one transaction, also of two mailboxes. */
  TRANSACTIONAL,
  /** A strong keyspace of Isolde: each change of a mailbox is one entry of a log. */
  STRONG,
  /** Plain tables of Cassandra at QUORUM, which are read and then written. */
  QUORUM,
  /** Plain tables of Cassandra: each change of a mailbox is a lightweight transaction. */
  SERIAL
}
