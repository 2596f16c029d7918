// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CommandCodec;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.RecentCommits;
import io.isolde.oracle.replica.UnfinishedCommit;
import io.isolde.raft.Daemons;
import io.isolde.raft.RaftReplica;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives the writes of commits that were decided lately out of the log, also of those applied. */
final class RecentWrites implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RecentWrites.class);

  /** A page is complete with the commit that exceeds it. */
  private static final int PAGE_BYTES = 1 << 20;

  private static final int PAGE_COMMITS = 10_000;
  private static final int MAX_WAITING = 64;

  /** In the place of a part, so that nobody takes the others for all. */
  private static final byte[] MISSING = {};

  /** The last entry that was read: those of a page lie together. */
  private record Read(long index, Optional<LogEntry> entry) {
    private Optional<byte[]> writes(int position) {
      return entry.map(
          found ->
              found.commands().get(position) instanceof Command.Stage stage
                  ? stage.part()
                  : ((Command.Commit) found.commands().get(position)).writeSet());
    }
  }

  /**
   * A commit that is asked for, or a part of it; its parts follow one another.
   *
   * @param pending its writes if they are not in what is left of the log; else null
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Found(long commitTimestamp, Optional<RecentCommits.Place> place, byte[] pending) {}

  private final ReplicaHost host;

  /** Reads from disk, so not on the threads of connections. */
  private final ExecutorService reader = Daemons.one("isolde-oracle-recent", MAX_WAITING);

  /** Guarded by this: one thread adds, and seldom another one looks. */
  private RecentCommits commits = new RecentCommits(0);

  /** Whose log has the writes; null until it runs. */
  private volatile RaftReplica replica;

  RecentWrites(ReplicaHost host) {
    this.host = host;
  }

  /** From now on it can be asked. */
  void readFrom(RaftReplica newReplica) {
    replica = newReplica;
  }

  /** The replica was saved once it had issued this, and goes on from there. */
  synchronized void restored(long last) {
    commits = new RecentCommits(last);
  }

  synchronized void applied(long index, LogEntry entry, List<Answer> answers) {
    commits.applied(index, entry, answers);
  }

  /** Answers later. A member that has not come as far as who asks can't know all. */
  void answer(LostWrites.Question question, Request request) {
    RaftReplica from = replica;
    if (from == null || host.look(OracleReplica::last) < question.upTo()) {
      request.overloaded();
      return;
    }
    try {
      reader.execute(() -> answer(question, request, from));
    } catch (RejectedExecutionException e) {
      request.overloaded();
    }
  }

  private void answer(LostWrites.Question question, Request request, RaftReplica from) {
    try {
      request.answer(page(question, from).writeTo(Wire.of(Protocol.OK)));
    } catch (IOException | RuntimeException e) {
      log.error("The writes of recent commits could not be read from the log", e);
      request.refused("The log could not be read: " + e);
    }
  }

  private LostWrites.Page page(LostWrites.Question question, RaftReplica from) throws IOException {
    List<Found> all = new ArrayList<>();
    boolean isWhole = find(question, all);
    List<LostWrites.Commit> commits = new ArrayList<>();
    int bytes = 0;
    Read read = new Read(-1, Optional.empty());
    int count = Math.min(all.size(), PAGE_COMMITS); // One more is there only to be looked at.
    int end = skipped(question, all, count);
    while (end < count && bytes < PAGE_BYTES) {
      Found one = all.get(end++);
      Optional<byte[]> writes = Optional.ofNullable(one.pending);
      if (one.place.isPresent()) {
        RecentCommits.Place place = one.place.get();
        read = read.index == place.index() ? read : read(place.index(), from);
        writes = read.writes(place.position());
      }
      isWhole &= writes.isPresent();
      if (writes.isPresent() || isInParts(all, end - 1)) {
        commits.add(new LostWrites.Commit(one.commitTimestamp, writes.orElse(MISSING)));
      }
      bytes += writes.map(found -> found.length).orElse(0);
    }
    boolean isLast = end == all.size();
    int whole = isLast ? end : firstPart(all, end);
    long newestWhole = whole == 0 ? question.after() : all.get(whole - 1).commitTimestamp;
    return new LostWrites.Page(isWhole, isLast, newestWhole, end - whole, commits);
  }

  /** Only what the last page had: another member, or this one later, may have less. */
  private static int skipped(LostWrites.Question question, List<Found> all, int count) {
    int skipped = 0;
    while (skipped < Math.min(question.skippedParts(), count)
        && all.get(skipped).commitTimestamp == question.begun()) {
      skipped++;
    }
    return skipped;
  }

  private static boolean isInParts(List<Found> all, int index) {
    boolean isFirst = firstPart(all, index) == index;
    boolean isLast = index + 1 == all.size() || firstPart(all, index + 1) == index + 1;
    return !isFirst || !isLast;
  }

  /** Where the commit begins to which the element at an index belongs. */
  private static int firstPart(List<Found> all, int index) {
    int first = index;
    while (first > 0 && all.get(first - 1).commitTimestamp == all.get(index).commitTimestamp) {
      first--;
    }
    return first;
  }

  private static Read read(long index, RaftReplica from) throws IOException {
    return new Read(index, from.read(index).map(CommandCodec::decodeEntry));
  }

  /** Returns whether none is missing. */
  private boolean find(LostWrites.Question question, List<Found> all) {
    Map<Long, List<byte[]>> pending = question.unsafe().isEmpty() ? Map.of() : unfinished();
    synchronized (this) {
      boolean isWhole = commits.coversFrom() <= question.safeUpTo();
      for (long unsafe : question.unsafe().stream().sorted().toList()) {
        if (unsafe > question.after() && unsafe <= question.safeUpTo()) {
          List<Found> parts = parts(unsafe, pending.getOrDefault(unsafe, List.of()));
          isWhole &= !parts.isEmpty();
          all.addAll(parts);
        }
      }
      long above = Math.max(question.after(), question.safeUpTo());
      int most = Math.max(0, PAGE_COMMITS + 1 - all.size());
      for (RecentCommits.Place place : commits.between(above, question.upTo(), most)) {
        all.add(new Found(place.commitTimestamp(), Optional.of(place), null));
      }
      return isWhole;
    }
  }

  /** What is in memory is there for sure; the log may have dropped its entries. */
  private List<Found> parts(long commitTimestamp, List<byte[]> pending) {
    List<RecentCommits.Place> places = commits.find(commitTimestamp);
    return !pending.isEmpty()
        ? pending.stream().map(part -> new Found(commitTimestamp, Optional.empty(), part)).toList()
        : places.stream()
            .map(place -> new Found(commitTimestamp, Optional.of(place), null))
            .toList();
  }

  /**
   * What is not applied yet, as far as is known here, and may be old. Its coordinator may count on
   * who asks, and may not have said so yet.
   */
  private Map<Long, List<byte[]>> unfinished() {
    Map<Long, List<byte[]>> writes = new HashMap<>();
    for (UnfinishedCommit commit : host.look(OracleReplica::unfinished)) {
      writes.put(commit.commit().commitTimestamp(), commit.writeSet());
    }
    return writes;
  }

  @Override
  public void close() {
    reader.shutdownNow();
  }
}
