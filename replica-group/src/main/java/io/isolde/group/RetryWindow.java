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
 */
final class RetryWindow {
  /** A session of which the log has heard nothing for so long will send nothing again. */
  static final long SESSION_MICROS = 600_000_000L;

  /** So many stay however long ago they were heard of: a leader's clock may be far ahead. */
  static final int FEW_SESSIONS = 512;

  /** Of clients; about 2 MiB, if none has more than a few writes open. */
  static final int MAX_CLIENTS = 8_192;

  /** Of clients, in all: about 16 MiB. */
  static final int MAX_CLIENT_WRITES = 262_144;

  /** A node may not have more open than this. */
  static final int MAX_OPEN = 16_384;

  /** Nor a client more than this. */
  static final int MAX_CLIENT_OPEN = 4_096;

  /** Clocks of clients that name their writes are right to this. */
  static final long MAX_SKEW_MICROS = 60_000_000L;

  /** Instead of a time: the write may have been applied, and must not be any more. */
  static final long FORGOTTEN = 0;

  private final RetrySessions nodes;
  private final RetrySessions clients;

  /** A client that is not known may have been heard of until then. */
  private long forgottenMicros;

  RetryWindow() {
    this(new RetrySessions(MAX_OPEN), new RetrySessions(MAX_CLIENT_OPEN), 0);
  }

  private RetryWindow(RetrySessions nodes, RetrySessions clients, long forgottenMicros) {
    this.nodes = nodes;
    this.clients = clients;
    this.forgottenMicros = forgottenMicros;
  }

  /** When the write was applied, if it was; {@link #FORGOTTEN} if nobody can tell any more. */
  OptionalLong appliedAt(long session, long number) {
    if (!RequestId.isOfClient(number)) {
      return nodes.appliedAt(session, number);
    }
    return clients.knows(session) || number > forgottenMicros + MAX_SKEW_MICROS
        ? clients.appliedAt(session, number)
        : OptionalLong.of(FORGOTTEN);
  }

  /** A write is applied; at ever later times. */
  void applied(RequestId id, long micros) {
    if (id.isOfClient()) {
      clients.applied(id, micros);
      forgetClients(micros);
    } else {
      nodes.applied(id, micros);
      while (nodes.size() > FEW_SESSIONS && nodes.oldestMicros() < micros - SESSION_MICROS) {
        nodes.removeOldest();
      }
    }
  }

  private void forgetClients(long micros) {
    while (clients.size() > MAX_CLIENTS
        || clients.writes() > MAX_CLIENT_WRITES
        || (clients.size() > FEW_SESSIONS && clients.oldestMicros() < micros - SESSION_MICROS)) {
      forgottenMicros = Math.max(forgottenMicros, clients.oldestMicros());
      clients.removeOldest();
    }
  }

  /** What becomes of such a write. */
  static GroupFailure forgotten() {
    return new GroupFailure(
        GroupFailure.Reason.UNKNOWN,
        "The write came so late that nobody can tell whether it was done before.");
  }

  int sessions() {
    return nodes.size() + clients.size();
  }

  void writeTo(DataOutput out) throws IOException {
    nodes.writeTo(out);
    clients.writeTo(out);
    out.writeLong(forgottenMicros);
  }

  static RetryWindow readFrom(DataInput in) throws IOException {
    RetrySessions nodes = RetrySessions.readFrom(in, MAX_OPEN);
    RetrySessions clients = RetrySessions.readFrom(in, MAX_CLIENT_OPEN);
    return new RetryWindow(nodes, clients, in.readLong());
  }
}
