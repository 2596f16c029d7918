// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.AnswerCodec;
import io.isolde.oracle.replica.Bytes;
import io.isolde.oracle.replica.CommandCodec;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.ApplicationHandler;
import io.isolde.raft.transport.LogLimit;
import io.isolde.raft.transport.PeerConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes the requests of coordinators. A node that is no member refers them to the members. */
final class OracleService implements ApplicationHandler {

  private static final Logger log = LoggerFactory.getLogger(OracleService.class);

  private final Supplier<List<Peer>> mayKnow;
  private final Bootstrap bootstrap;
  private final BiConsumer<MemberChange, Request> changes;
  private final Executor background;
  private final LogLimit logLimit = new LogLimit();

  /** Null while this node is no member. */
  private volatile OracleMember member;

  /**
   * @param mayKnow to whom a node that is no member refers
   * @param changes carries out changes of the members, on threads of its own
   * @param background runs what looks at the disk, or takes its time
   */
  OracleService(
      Supplier<List<Peer>> mayKnow,
      Bootstrap bootstrap,
      BiConsumer<MemberChange, Request> changes,
      Executor background) {
    this.mayKnow = mayKnow;
    this.bootstrap = bootstrap;
    this.changes = changes;
    this.background = background;
  }

  void serve(OracleMember newMember) {
    member = newMember;
  }

  @Override
  public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
    Request request = new Request(from, requestId);
    try {
      if (service == Protocol.SERVICE) {
        handle(request, body);
      } else {
        request.failed("This node has no service " + service + ".");
      }
    } catch (IllegalArgumentException e) {
      request.refused("The request is not understood: " + e.getMessage());
    } catch (IndexOutOfBoundsException | BufferUnderflowException e) {
      request.refused("The request is not understood: it ends too early.");
    } catch (RejectedExecutionException e) {
      request.overloaded();
    } catch (RuntimeException e) {
      if (logLimit.allows(e.getClass())) {
        log.error("A request of {} failed", from.remoteAddress(), e);
      }
      request.refused("The request failed: " + e);
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
      case Protocol.CHANGE -> changes.accept(MemberChange.read(body), request);
      case Protocol.STATUS -> status(request, serving);
      case Protocol.CONFIGURATION ->
          configuration(request, ConfigurationQuestion.read(body), serving);
      default -> {
        if (serving == null || !serving.host.isServing()) {
          request.notLeader(leading());
        } else {
          serve(what, request, body, serving);
        }
      }
    }
  }

  private void serve(byte what, Request request, ByteBuf body, OracleMember member) {
    switch (what) {
      case Protocol.BEGIN -> begin(request, null, member);
      case Protocol.BEGIN_UNDECIDED -> begin(request, Wire.id(body), member);
      case Protocol.EXECUTE -> execute(request, body, member);
      case Protocol.EXECUTE_AND_APPLY -> {
        request.wantApplied();
        execute(request, body, member);
      }
      case Protocol.APPLIED -> member.applied(body.readLong(), request);
      case Protocol.LOG_APPLIED -> member.logApplied(body.readLong(), request);
      case Protocol.LOGGED ->
          member.host.logged().ifPresentOrElse(request::answer, () -> request.notLeader(leading()));
      case Protocol.AWAIT_STABLE -> member.answerWhenStable(body.readLong(), request);
      case Protocol.IN_DOUBT -> inDoubt(request, body.readLong(), body.readLong(), member);
      case Protocol.RENEW -> renew(request, body, member);
      case Protocol.LOST_WRITES -> member.recent.answer(LostWrites.Question.read(body), request);
      case Protocol.OUTCOME -> member.outcome(Wire.id(body), request);
      default -> request.refused("There is no request " + what + ".");
    }
  }

  private static void execute(Request request, ByteBuf body, OracleMember member) {
    byte[] command = Wire.bytes(body);
    member.execute(CommandCodec.decode(ByteBuffer.wrap(command)), command, request);
  }

  /** At once; only the answer waits until it is known whether this member leads. */
  private void renew(Request request, ByteBuf body, OracleMember member) {
    Optional<RenewedLease> renewed =
        member.renew(body.readLong(), body.readLong(), Wire.longs(body));
    if (renewed.isEmpty()) {
      request.notLeader(leading());
      return;
    }
    var unused =
        member
            .replica
            .barrier()
            .whenComplete((leads, error) -> answer(request, renewed.get().proven(error == null)));
  }

  private static void answer(Request request, RenewedLease renewed) {
    request.answer(renewed.writeTo(Wire.of(Protocol.OK)));
  }

  private static void begin(Request request, UUID transactionId, OracleMember member) {
    Optional<Stable> now = member.starts.now(transactionId);
    if (now.isPresent()) {
      request.answer(now.get());
    } else if (!member.starts.offer(request, transactionId)) {
      member.rates.overloads.increment();
      request.overloaded();
    }
  }

  private void inDoubt(Request request, long have, long need, OracleMember member) {
    member
        .host
        .inDoubt(need)
        .ifPresentOrElse(
            set -> request.answer(InDoubtMessage.write(set, have, Wire.of(Protocol.OK))),
            () -> request.notLeader(leading()));
  }

  private void found(Request request, ByteBuf body) {
    List<Peer> itsInitialMembers = Bootstrap.readMembers(body);
    background.execute(
        () -> request.answer(bootstrap.onProbe(itsInitialMembers).writeTo(Wire.of(Protocol.OK))));
  }

  private void status(Request request, OracleMember serving) {
    if (serving == null) {
      request.notLeader(leading());
    } else {
      request.answer(serving.status().writeTo(Wire.of(Protocol.OK)));
    }
  }

  private void configuration(
      Request request, ConfigurationQuestion question, OracleMember serving) {
    if (serving == null || (question.isForLeader() && !serving.host.isServing())) {
      request.notLeader(leading());
      return;
    }
    CompletableFuture<Void> isKnown =
        question.isForLeader()
            ? serving.replica.barrier()
            : CompletableFuture.completedFuture(null);
    var unused =
        isKnown.whenComplete(
            (known, error) -> {
              // It may have lost the lead meanwhile, and got it again without all entries.
              boolean isReady = !question.isForLeader() || serving.host.isServing();
              if (error == null && isReady) {
                answerLater(request, question, serving);
              } else {
                request.notLeader(leading());
              }
            });
  }

  /** Neither on an event loop nor on a thread of Raft: it may be long. */
  private void answerLater(Request request, ConfigurationQuestion question, OracleMember serving) {
    try {
      background.execute(
          () -> {
            try {
              answer(request, question, serving);
            } catch (RuntimeException | Error e) {
              if (logLimit.allows(e.getClass())) {
                log.error("The configuration could not be answered", e);
              }
              request.refused("The configuration could not be answered: " + e);
            }
          });
    } catch (RejectedExecutionException e) {
      request.overloaded();
    }
  }

  private void answer(Request request, ConfigurationQuestion question, OracleMember serving) {
    Consumer<Bytes> found = serving.host.look(question::look);
    if (found == null) {
      request.notLeader(leading());
      return;
    }
    Bytes bytes = new Bytes(1 << 10).put(Protocol.OK);
    found.accept(bytes);
    byte[] encoded = bytes.toArray();
    request.answer(Unpooled.wrappedBuffer(encoded));
  }

  Leading leading() {
    OracleMember serving = member;
    return serving == null
        ? new Leading(false, 0, Optional.empty(), mayKnow.get())
        : serving.leading();
  }

  static ByteBuf outcome(Optional<? extends Answer> decided) {
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
        ("isolde-oracle/" + clusterName).getBytes(StandardCharsets.UTF_8));
  }
}
