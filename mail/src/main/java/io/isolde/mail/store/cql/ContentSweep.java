// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import io.isolde.mail.store.cql.MailboxReads.Entry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes content that no mailbox lists: what a crash or a failed delivery has left, and places
 * whose message never came.
 *
 * <p>Whoever sweeps looks twice. What is listed nowhere may be a copy that is about to be listed.
 * Such a copy is there at the second look, or its place is not.
 */
public final class ContentSweep {
  private static final Logger log = LoggerFactory.getLogger(ContentSweep.class);

  /** Younger messages may be on their way into a mailbox. */
  public static final Duration MIN_AGE = Duration.ofDays(1);

  /** Between the looks, longer than any change takes. */
  public static final Duration BETWEEN_LOOKS = Duration.ofMinutes(10);

  /** All servers of a keyspace together sweep once in this time. */
  private static final Duration PERIOD = Duration.ofDays(7);

  /** If a sweep has not ended so long after its start, there may be another one. */
  private static final Duration MAX_SWEEP = Duration.ofDays(1);

  /** More are left for the next time. */
  private static final int MAX_FOUND = 10_000;

  /** Messages of a page, and looked at in a second. */
  private static final int MAX_PER_SECOND = 500;

  private final MailRequests requests;
  private final MailTables tables;
  private final MailboxReads reads;
  private final Contents contents;
  private final PreparedStatement claim;
  private final PreparedStatement finish;
  private final List<PreparedStatement> ids;

  ContentSweep(
      CqlSession session,
      String keyspace,
      MailRequests requests,
      MailTables tables,
      MailboxReads reads,
      Contents contents) {
    this.requests = requests;
    this.tables = tables;
    this.reads = reads;
    this.contents = contents;
    claim =
        session.prepare(
            "INSERT INTO %s.settings (name, value) VALUES ('sweep', 'started') IF NOT EXISTS USING TTL %d"
                .formatted(keyspace, MAX_SWEEP.toSeconds()));
    finish =
        session.prepare(
            "UPDATE %s.settings USING TTL %d SET value = 'done' WHERE name = 'sweep' IF value = 'started'"
                .formatted(keyspace, PERIOD.toSeconds()));
    // A crash may leave either without the other.
    ids =
        List.of(
            session.prepare("SELECT message_id FROM %s.headers".formatted(keyspace)),
            session.prepare("SELECT DISTINCT message_id FROM %s.bodies".formatted(keyspace)));
  }

  /**
   * Returns whether the caller is to sweep: one of all servers hears so. If it does not come to
   * {@link #finish} within a day, another one hears so.
   */
  public boolean claim() {
    return requests.batch(List.of(claim.bind()));
  }

  /** Whoever has swept says so: the next sweep is a week later. */
  public void finish() {
    boolean unused = requests.batch(List.of(finish.bind()));
  }

  /** Messages that were listed nowhere at the first look, with their places. */
  public static final class Found {
    private final Map<UUID, Set<Entry>> placesById = new TreeMap<>();

    public int size() {
      return placesById.size();
    }
  }

  /**
   * The first look: reads the ids of all messages, so many a second.
   *
   * @param before the time of ids that count; see {@link #MIN_AGE}
   */
  public Found find(Instant before) throws InterruptedException {
    Found found = new Found();
    for (PreparedStatement statement : ids) {
      find(statement.bind().setPageSize(MAX_PER_SECOND), before.toEpochMilli(), found);
    }
    return found;
  }

  private void find(BoundStatement statement, long beforeMillis, Found found)
      throws InterruptedException {
    int looked = 0;
    for (Row row : requests.read(statement)) {
      UUID id = row.getUuid("message_id");
      if (found.size() >= MAX_FOUND) {
        return;
      }
      if (isOlder(id, beforeMillis)) {
        lookAt(id, found);
      }
      if (++looked % MAX_PER_SECOND == 0) {
        Thread.sleep(Duration.ofSeconds(1).toMillis());
      }
    }
  }

  /** A message that can't be looked at stays until the next sweep. */
  private void lookAt(UUID id, Found found) {
    try {
      if (reads.places(id).isEmpty() && reads.placesForGood(id).isEmpty()) {
        found.placesById.put(id, reads.entries(id));
      }
    } catch (DriverException e) {
      log.warn("The places of message {} can't be read; it stays", id, e);
    }
  }

  /** Ids without a time are not of this server, and stay. */
  private static boolean isOlder(UUID id, long beforeMillis) {
    return id.version() == 1 && Uuids.unixTimestamp(id) < beforeMillis;
  }

  /**
   * The second look, {@link #BETWEEN_LOOKS} later: removes what has the same places and is not
   * listed. Returns how many messages these were.
   */
  public int remove(Found found) {
    int removed = 0;
    for (Map.Entry<UUID, Set<Entry>> each : found.placesById.entrySet()) {
      try {
        removed += remove(each.getKey(), each.getValue()) ? 1 : 0;
      } catch (DriverException e) {
        log.warn("The content of message {} can't be removed; it stays", each.getKey(), e);
      }
    }
    return removed;
  }

  private boolean remove(UUID id, Set<Entry> places) {
    if (!reads.entries(id).equals(places) || !reads.placesForGood(id).isEmpty()) {
      return false;
    }
    requests.write(
        places.stream().map(entry -> tables.unplace(entry.mailbox(), id, entry.uid())).toList());
    contents.removeUnplaced(List.of(id));
    return true;
  }
}
