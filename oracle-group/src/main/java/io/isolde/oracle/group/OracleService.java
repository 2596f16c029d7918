// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.AnswerCodec;
import io.isolde.oracle.replica.Bytes;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CommandCodec;
import io.isolde.raft.ApplicationHandler;
import io.isolde.raft.PeerConnection;
import io.netty.buffer.ByteBuf;
import java.nio.BufferUnderflowException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Takes the requests of coordinators. A node that is no member refers them to the members. */
final class OracleService implements ApplicationHandler {

  /** What changes who the members are; runs on threads of its own. */
  interface Changes {
    void onChange(MemberChange change, Request request);
  }

  private final Changes changes;

  /** Null while this node is no member. */
  private volatile OracleMember member;

  private volatile Founding founding;

  OracleService(Changes changes) {
    this.changes = changes;
  }

  void serve(OracleMember newMember) {
    member = newMember;
  }

  void found(Founding newFounding) {
    founding = newFounding;
  }

  @Override
  public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
    Request request = new Request(from, requestId);
    try {
      if (service != Protocol.SERVICE) {
        from.fail(requestId, "This node has no service " + service + ".");
        return;
      }
      handle(request, body);
    } catch (IllegalArgumentException | IndexOutOfBoundsException | BufferUnderflowException e) {
      request.refused("The request is not understood: " + e.getMessage() + ".");
    } finally {
      body.release();
    }
  }

  private void handle(Request request, ByteBuf body) {
    byte what = body.readByte();
    OracleMember serving = member;
    switch (what) {
      case Protocol.WHO_LEADS -> request.answer(leading().writeTo(Wire.of(Protocol.OK)));
      case Protocol.FOUND -> found(request, body);
      case Protocol.CHANGE -> changes.onChange(MemberChange.read(body), request);
      case Protocol.STATUS -> status(request, serving);
      default -> {
        if (serving == null || !serving.host().isServing()) {
          request.notLeader(leading());
        } else {
          serve(what, request, body, serving);
        }
      }
    }
  }

  private void serve(byte what, Request request, ByteBuf body, OracleMember member) {
    switch (what) {
      case Protocol.BEGIN -> accept(member, member.begins().offer(request), request);
      case Protocol.EXECUTE -> execute(request, CommandCodec.decode(Wire.rest(body)), member);
      case Protocol.APPLIED -> execute(request, new Command.Applied(body.readLong()), member);
      case Protocol.AWAIT_STABLE -> await(request, body.readLong(), member);
      case Protocol.RENEW -> renew(request, body.readLong(), body.readLong(), member);
      case Protocol.OUTCOME -> member.outcome(Wire.id(body), request);
      default -> request.refused("There is no request " + what + ".");
    }
  }

  private static void execute(Request request, Command command, OracleMember member) {
    accept(member, member.sequencer().offer(new EntryMessage.Item(command, request)), request);
  }

  private static void accept(OracleMember member, boolean isAccepted, Request request) {
    if (!isAccepted) {
      member.rates().overload();
      request.overloaded();
    }
  }

  private static void await(Request request, long timestamp, OracleMember member) {
    member.host().stableOrWait(timestamp, request).ifPresent(request::answer);
  }

  private void renew(Request request, long session, long oldestStart, OracleMember member) {
    member
        .host()
        .renew(session, oldestStart)
        .ifPresentOrElse(
            renewed -> request.answer(renewed.writeTo(Wire.of(Protocol.OK))),
            () -> request.notLeader(leading()));
  }

  private void found(Request request, ByteBuf body) {
    Founding here = founding;
    request.answer(
        here == null
            ? Founding.Reply.NOT_YET.writeTo(Wire.of(Protocol.OK))
            : here.onProbe(Founding.readMembers(body)).writeTo(Wire.of(Protocol.OK)));
  }

  private void status(Request request, OracleMember serving) {
    if (serving == null) {
      request.notLeader(leading());
    } else {
      request.answer(serving.status().writeTo(Wire.of(Protocol.OK)));
    }
  }

  Leading leading() {
    OracleMember serving = member;
    return serving == null ? new Leading(false, 0, Optional.empty(), List.of()) : serving.leading();
  }

  /** Tells who asked what came of an entry, and sends once for each connection. */
  static void answer(EntryMessage message, ReplicaHost.Applied applied, ReplicaHost host) {
    Set<PeerConnection> connections = new HashSet<>();
    for (int i = 0; i < message.items().size(); i++) {
      EntryMessage.Item item = message.items().get(i);
      if (item.request() != null) {
        answer(item, applied.answers().get(i), applied.stable(), host);
        connections.add(item.request().connection());
      }
    }
    connections.forEach(PeerConnection::flush);
  }

  private static void answer(EntryMessage.Item item, Answer answer, long stable, ReplicaHost host) {
    if (!(item.command() instanceof Command.Applied applied)) {
      item.request().write(answer);
    } else if (applied.commitTimestamp() <= stable) {
      item.request().write(stable);
    } else {
      host.stableOrWait(applied.commitTimestamp(), item.request()).ifPresent(item.request()::write);
    }
  }

  static ByteBuf outcome(Optional<Answer> decided) {
    ByteBuf response = Wire.of(Protocol.OK).writeBoolean(decided.isPresent());
    decided.ifPresent(
        answer -> {
          Bytes bytes = new Bytes(64);
          AnswerCodec.encode(answer, bytes);
          response.writeBytes(bytes.toArray());
        });
    return response;
  }

  static UUID groupIdOf(String clusterName) {
    return UUID.nameUUIDFromBytes(
        ("isolde-oracle/" + clusterName).getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }
}
