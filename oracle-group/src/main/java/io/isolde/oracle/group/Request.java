// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.AnswerCodec;
import io.isolde.oracle.replica.Bytes;
import io.isolde.raft.transport.PeerConnection;
import io.netty.buffer.ByteBuf;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A request that came over a connection. The first answer counts and the others are dropped: a
 * leader that steps down refuses what it has under way, and may yet see it applied.
 */
final class Request {
  private static final int EXPECTED_ANSWER_BYTES = 32;

  private final PeerConnection connection;
  private final long id;
  private final AtomicBoolean isAnswered = new AtomicBoolean();

  /** Set before anybody else has it. */
  private boolean wantsApplied;

  Request(PeerConnection connection, long id) {
    this.connection = connection;
    this.id = id;
  }

  PeerConnection connection() {
    return connection;
  }

  /** Is for a commit that this node is to apply, too: see {@link Protocol#EXECUTE_AND_APPLY}. */
  void wantApplied() {
    wantsApplied = true;
  }

  boolean wantsApplied() {
    return wantsApplied;
  }

  private boolean isFirstAnswer() {
    return isAnswered.compareAndSet(false, true);
  }

  void answer(Stable result) {
    answer(result.writeTo(Wire.of(Protocol.OK)));
  }

  /** Takes over the buffer. */
  void answer(ByteBuf okAndResult) {
    if (isFirstAnswer()) {
      connection.respond(id, okAndResult);
    } else {
      okAndResult.release();
    }
  }

  /** Without sending it yet: see {@link PeerConnection#flush}. */
  void write(Answer answer) {
    write(answer, Stable.NOT_KNOWN);
  }

  /**
   * The same, of a commit that this node has applied.
   *
   * @param applied what was stable then
   */
  void write(Answer answer, Stable applied) {
    if (isFirstAnswer()) {
      ByteBuf response = Wire.of(Protocol.OK);
      if (wantsApplied) {
        applied.writeTo(response);
      }
      Bytes bytes = new Bytes(EXPECTED_ANSWER_BYTES);
      AnswerCodec.encode(answer, bytes);
      connection.write(id, response.writeBytes(bytes.toArray()));
    }
  }

  /** Without sending it yet: see {@link PeerConnection#flush}. */
  void write(Stable result) {
    if (isFirstAnswer()) {
      connection.write(id, result.writeTo(Wire.of(Protocol.OK)));
    }
  }

  /** Gives all of them the same answer, and sends once for each connection. */
  static void answerAll(List<Request> requests, Stable result) {
    Set<PeerConnection> connections = new HashSet<>();
    for (Request request : requests) {
      request.write(result);
      connections.add(request.connection);
    }
    connections.forEach(PeerConnection::flush);
  }

  void notLeader(Leading leading) {
    answer(leading.writeTo(Wire.of(Protocol.NOT_LEADER)));
  }

  void overloaded() {
    answer(Wire.of(Protocol.OVERLOADED));
  }

  void refused(String sentence) {
    ByteBuf response = Wire.of(Protocol.REFUSED);
    Wire.write(response, sentence);
    answer(response);
  }

  /** The node has no such service at all. */
  void failed(String sentence) {
    if (isFirstAnswer()) {
      connection.fail(id, sentence);
    }
  }
}
