// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.OptionalLong;

/**
 * Which writes were applied that may be sent again. Depends on the log alone, so it is the same on
 * all replicas. It is after Lee et al., <em>Implementing linearizability at large scale and low
 * latency</em>, SOSP 2015: a client says up to where it has its answers.
 *
 * <p>There are as many sessions of nodes as there are nodes and restarts. Of clients there may be
 * any number, so their sessions are bounded, and those not heard of for longest go. A write of a
 * session that is not known is then either a new one or one that was applied long ago. Its number
 * is a time, which tells: the write was applied after that, give or take {@link #MAX_SKEW_MICROS}.
 *
 * <p>If there are too many clients for that, writes of further ones are refused. They are refused
 * for good: a later copy is never applied. So their sender knows that nothing was done.
 */
final class RetryWindow {
  /** A session of which the log has heard nothing for so long will send nothing again. */
  static final long SESSION_MICROS = 600_000_000L;

  /** So many stay however long ago they were heard of: a leader's clock may be far ahead. */
  static final int FEW_SESSIONS = 512;

  /** Of clients; about 2 MiB, if none has more than a few writes open. */
  static final int MAX_CLIENTS = 8_192;

  /** Whoever was heard of since is not forgotten for another client. */
  static final long MIN_SILENCE_MICROS = 300_000_000L;

  /** Of clients, in all: about 16 MiB. Above that a client has few. */
  static final int MAX_CLIENT_WRITES = 262_144;

  private static final int FEW_OPEN = 64;

  /** A node may not have more open than this. */
  static final int MAX_OPEN = 16_384;

  /** Nor a client more than this. */
  static final int MAX_CLIENT_OPEN = 4_096;

  /**
   * A client's clock and the log's differ by less. Nodes look at half of it (a client's clock
   * against theirs); the other half is for a node's clock against the leader's.
   */
  static final long MAX_SKEW_MICROS = 120_000_000L;

  /** Instead of a time: the write may have been applied, and must not be any more. */
  static final long FORGOTTEN = 0;

  /** Instead of a time: the write was not applied, and never will be. */
  static final long REFUSED = -2;

  private final RetrySessions nodes;
  private final RetrySessions clients;

  /** A client that is not known may have been heard of until then. */
  private long forgottenMicros;

  /** Up to this number writes of clients that are not known were refused. */
  private long refusedNumber;

  RetryWindow() {
    this(new RetrySessions(), new RetrySessions());
  }

  private RetryWindow(RetrySessions nodes, RetrySessions clients) {
    this.nodes = nodes;
    this.clients = clients;
  }

  /** When the write was applied, if it was; {@link #FORGOTTEN} if nobody can tell any more. */
  OptionalLong appliedAt(long session, long number) {
    if (!RequestId.isOfClient(number)) {
      return nodes.appliedAt(session, number);
    }
    if (clients.knows(session)) {
      return clients.appliedAt(session, number);
    }
    if (number <= forgottenMicros + MAX_SKEW_MICROS) {
      return OptionalLong.of(FORGOTTEN);
    }
    return number <= refusedNumber ? OptionalLong.of(REFUSED) : OptionalLong.empty();
  }

  /**
   * Whether there is room for a write that is not known; else it is refused from now on.
   *
   * @param micros not before the last write that was applied
   */
  boolean admits(RequestId id, long micros) {
    if (!id.isOfClient() || clients.knows(id.session())) {
      return true;
    }
    if (clients.size() >= MAX_CLIENTS) {
      forgetClients(MAX_CLIENTS - 1, micros - MIN_SILENCE_MICROS);
    }
    if (clients.size() >= MAX_CLIENTS || id.number() <= forgottenMicros + MAX_SKEW_MICROS) {
      refusedNumber = Math.max(refusedNumber, id.number());
      return false;
    }
    return true;
  }

  /** A write is applied; at ever later times. */
  void applied(RequestId id, long micros) {
    if (id.isOfClient()) {
      boolean isCrowded = clients.writes() > MAX_CLIENT_WRITES;
      RequestId named = clients.knows(id.session()) ? id : first(id);
      clients.applied(named, micros, isCrowded ? FEW_OPEN : MAX_CLIENT_OPEN);
      forgetClients(FEW_SESSIONS, micros - SESSION_MICROS);
    } else {
      nodes.applied(id, micros, MAX_OPEN);
      while (nodes.size() > FEW_SESSIONS && nodes.oldestMicros() < micros - SESSION_MICROS) {
        nodes.removeOldest();
      }
    }
  }

  /** From now on the session is known, which must not let in what was kept out before. */
  private RequestId first(RequestId id) {
    long keptOut = Math.max(forgottenMicros + MAX_SKEW_MICROS, refusedNumber);
    return new RequestId(
        id.session(), id.number(), Math.max(id.oldestOpen(), Math.min(id.number(), keptOut + 1)));
  }

  /** Down to so many, but none that was heard of since. */
  private void forgetClients(int count, long sinceMicros) {
    while (clients.size() > count && clients.oldestMicros() < sinceMicros) {
      forgottenMicros = Math.max(forgottenMicros, clients.oldestMicros());
      clients.removeOldest();
    }
  }

  /** What becomes of a write that is {@link #FORGOTTEN}. Sending it again does not help. */
  static GroupFailure forgotten() {
    return new GroupFailure(
        GroupFailure.Reason.TIMED_OUT_UNKNOWN,
        "The write came so late that nobody can tell whether it was done before.");
  }

  /** What becomes of a write that is {@link #REFUSED}. Clients look for the name of the payload. */
  static GroupFailure refused() {
    return new GroupFailure(
        GroupFailure.Reason.REFUSED,
        "More than %d clients name their writes to this replica group. Send the request without"
                .formatted(MAX_CLIENTS)
            + " the custom payload isolde-request.");
  }

  int sessions() {
    return nodes.size() + clients.size();
  }

  void writeTo(DataOutput out) throws IOException {
    nodes.writeTo(out);
    clients.writeTo(out);
    out.writeLong(forgottenMicros);
    out.writeLong(refusedNumber);
  }

  static RetryWindow readFrom(DataInput in) throws IOException {
    RetryWindow window = new RetryWindow(RetrySessions.readFrom(in), RetrySessions.readFrom(in));
    window.forgottenMicros = in.readLong();
    window.refusedNumber = in.readLong();
    return window;
  }

  /** As builds wrote it to which clients named nothing. */
  static RetryWindow ofNodesFrom(DataInput in) throws IOException {
    long unused = in.readLong();
    return new RetryWindow(RetrySessions.readUnorderedFrom(in), new RetrySessions());
  }
}
