// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.UUID;

/** A replica with a leader and one open session, and short forms of what the tests do with it. */
final class ReplicaFixture {
  static final long RESERVATION = 1000;
  static final OracleConfig CONFIG = new OracleConfig(1000, 100, 100, 1_000_000, 0);
  static final UUID COORDINATOR = new UUID(1, 1);

  final OracleReplica replica = new OracleReplica();
  Leadership leadership;
  final long session;

  ReplicaFixture() {
    lead(CONFIG, 10_000);
    session = open(COORDINATOR, 1);
  }

  /** Another leader comes. */
  void lead(OracleConfig config, long nowMicros) {
    leadership = new Leadership(replica, RESERVATION);
    LogEntry first = leadership.firstEntry(config, nowMicros);
    replica.apply(first);
    leadership.entryApplied(first);
  }

  long open(UUID coordinator, long generation) {
    return ((Answer.SessionOpened) apply(new Command.OpenSession(coordinator, generation)))
        .session();
  }

  Answer apply(Command command) {
    return apply(replica.last(), List.of(command)).get(0);
  }

  List<Answer> apply(long nowMicros, List<Command> commands) {
    LogEntry entry = leadership.entry(commands, nowMicros);
    List<Answer> answers = replica.apply(entry);
    leadership.entryApplied(entry);
    return answers;
  }

  static Command commit(long session, int sequence, UUID id, long start, long... rows) {
    return new Command.Commit(session, sequence, request(id, start, rows));
  }

  static CommitRequest request(UUID id, long start, long... rows) {
    return new CommitRequest(id, IsolationLevel.SERIALIZABLE, start, rows, rows, rows);
  }

  /** Commits rows without reading them. */
  static Command blind(long session, int sequence, long... rows) {
    return new Command.Commit(
        session,
        sequence,
        new CommitRequest(null, IsolationLevel.SERIALIZABLE, 0, new long[0], new long[0], rows));
  }

  static Decision decision(Answer answer) {
    return ((Answer.Decided) answer).decision();
  }

  static long timestamp(Answer answer) {
    return ((Decision.Committed) decision(answer)).commitTimestamp();
  }

  static byte[] save(OracleReplica replica) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SavedReplica.of(replica).writeTo(new DataOutputStream(out));
    return out.toByteArray();
  }

  static OracleReplica load(byte[] saved) throws IOException {
    return SavedReplica.read(new DataInputStream(new ByteArrayInputStream(saved)));
  }
}
