// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.mail.store.MailboxSignals;
import io.isolde.mail.store.MailboxWrites;
import java.time.Duration;

/**
 * The mailboxes of a keyspace, opened.
 *
 * @param reads of all that is in mailboxes, but for contents
 * @param writes the only part in which stores differ
 * @param contents of messages
 * @param users what else users have
 * @param sweep for content that crashes have left
 * @param signals of changes through any server
 */
public record MailboxStore(
    MailboxReads reads,
    MailboxWrites writes,
    Contents contents,
    UserTables users,
    ContentSweep sweep,
    MailboxSignals signals) {

  /** What is polled is one row, at the pace at which IDLE is of use. */
  private static final Duration POLL_PAUSE = Duration.ofSeconds(5);

  /** On transactional tables of Isolde. */
  public static MailboxStore transactional(CqlSession session, String keyspace) {
    Schema.create(session, keyspace, "transactional", false, true);
    Parts parts = Parts.of(session, keyspace, Levels.SERIAL);
    return parts.with(
        new TransactionalWrites(session, keyspace, parts.tables, parts.reads, parts.requests),
        new WatchedMailboxes(session, keyspace));
  }

  /** On plain tables of a strong keyspace, by conditional batches of a partition. */
  public static MailboxStore strong(CqlSession session, String keyspace) {
    Schema.create(session, keyspace, "strong", true, false);
    Parts parts = Parts.of(session, keyspace, Levels.QUORUM);
    return parts.with(
        new CheckedWrites(parts.tables, parts.reads, parts.requests),
        new WatchedMailboxes(session, keyspace));
  }

  /** On plain tables of Cassandra, by reads and writes at QUORUM. */
  public static MailboxStore quorum(CqlSession session, String keyspace) {
    Schema.create(session, keyspace, "quorum", false, false);
    Parts parts = Parts.of(session, keyspace, Levels.QUORUM);
    return parts.with(
        new ReadThenWrite(parts.tables, parts.reads, parts.requests),
        new PolledMailboxes(POLL_PAUSE));
  }

  /** On plain tables of Cassandra, by lightweight transactions of a partition. */
  public static MailboxStore serial(CqlSession session, String keyspace) {
    Schema.create(session, keyspace, "serial", false, false);
    Parts parts = Parts.of(session, keyspace, Levels.SERIAL_NUMBERS);
    return parts.with(
        new CheckedWrites(parts.tables, parts.reads, parts.requests),
        new PolledMailboxes(POLL_PAUSE));
  }

  private record Parts(
      CqlSession session,
      String keyspace,
      MailTables tables,
      MailRequests requests,
      MailboxReads reads) {
    static Parts of(CqlSession session, String keyspace, Levels levels) {
      MailTables tables = new MailTables(session, keyspace);
      MailRequests requests = new MailRequests(session, levels);
      return new Parts(session, keyspace, tables, requests, new MailboxReads(tables, requests));
    }

    MailboxStore with(MailboxWrites writes, MailboxSignals signals) {
      // What never changes is read at QUORUM in every store, and so is what is written cell by
      // cell.
      MailRequests common = new MailRequests(session, Levels.QUORUM);
      Contents contents = new Contents(session, keyspace, common, tables, reads);
      return new MailboxStore(
          reads,
          writes,
          contents,
          new UserTables(session, keyspace, common),
          new ContentSweep(session, keyspace, common, tables, reads, contents),
          signals);
    }
  }
}
