// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.AnswerCodec;
import io.isolde.oracle.replica.Bytes;
import io.isolde.raft.PeerConnection;
import io.netty.buffer.ByteBuf;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A request that came over a connection and is to be answered once. */
record Request(PeerConnection connection, long id) {
  private static final int EXPECTED_ANSWER_BYTES = 32;

  void answer(long result) {
    connection.respond(id, Wire.of(Protocol.OK, result));
  }

  void answer(ByteBuf okAndResult) {
    connection.respond(id, okAndResult);
  }

  /** Without sending it yet: see {@link PeerConnection#flush}. */
  void write(Answer answer) {
    Bytes bytes = new Bytes(EXPECTED_ANSWER_BYTES);
    AnswerCodec.encode(answer, bytes);
    connection.write(id, Wire.of(Protocol.OK).writeBytes(bytes.toArray()));
  }

  /** Without sending it yet: see {@link PeerConnection#flush}. */
  void write(long result) {
    connection.write(id, Wire.of(Protocol.OK, result));
  }

  /** Gives all of them the same answer, and sends once for each connection. */
  static void answerAll(List<Request> requests, long result) {
    Set<PeerConnection> connections = new HashSet<>();
    for (Request request : requests) {
      request.write(result);
      connections.add(request.connection);
    }
    connections.forEach(PeerConnection::flush);
  }

  void notLeader(Leading leading) {
    connection.respond(id, leading.writeTo(Wire.of(Protocol.NOT_LEADER)));
  }

  void overloaded() {
    connection.respond(id, Wire.of(Protocol.OVERLOADED));
  }

  void refused(String sentence) {
    ByteBuf response = Wire.of(Protocol.REFUSED);
    Wire.write(response, sentence);
    connection.respond(id, response);
  }
}
