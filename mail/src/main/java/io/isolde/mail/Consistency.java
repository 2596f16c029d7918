// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail;

/**
 * By what means a {@link MailStore} keeps its counts, numbers and names right. The schema and the
 * code above are the same for all; docs/mail.md says what each guarantees.
 */
public enum Consistency {
  /** Transactional tables of Isolde: each change of a mailbox is one transaction. */
  TRANSACTIONAL,
  /** The same transactional tables, in a strong keyspace: replicas follow a log. */
  STRONG,
  /** Plain tables of Cassandra at QUORUM, which are read and then written. */
  QUORUM,
  /** Plain tables of Cassandra, with lightweight transactions for numbers, counts and names. */
  SERIAL
}
