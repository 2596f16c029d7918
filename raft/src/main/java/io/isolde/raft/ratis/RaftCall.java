// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.transport.PeerLink;
import io.isolde.raft.transport.ResponseHandler;
import io.isolde.raft.transport.TransportException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** One Raft request under way to a peer. */
final class RaftCall<T extends MessageLite> implements ResponseHandler {
  private final PeerLink link;
  private final Parser<T> parser;
  private final CompletableFuture<T> reply = new CompletableFuture<>();

  private RaftCall(PeerLink link, Parser<T> parser) {
    this.link = link;
    this.parser = parser;
  }

  static <T extends MessageLite> RaftCall<T> send(
      PeerLink link, byte kind, MessageLite request, Parser<T> parser) throws IOException {
    RaftCall<T> call = new RaftCall<>(link, parser);
    link.send(kind, encode(request), call);
    return call;
  }

  static ByteBuf encode(MessageLite message) throws IOException {
    int bytes = message.getSerializedSize();
    ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(bytes);
    ByteBuffer target = buffer.internalNioBuffer(0, bytes);
    CodedOutputStream out = CodedOutputStream.newInstance(target);
    message.writeTo(out);
    out.flush();
    buffer.writerIndex(bytes);
    return buffer;
  }

  /** Copies the body once; the message's byte strings share the copy. Releases the body. */
  static <T extends MessageLite> T decode(ByteBuf body, Parser<T> parser) throws IOException {
    byte[] bytes;
    try {
      bytes = new byte[body.readableBytes()];
      body.readBytes(bytes);
    } finally {
      body.release();
    }
    CodedInputStream in = UnsafeByteOperations.unsafeWrap(bytes).newCodedInput();
    in.enableAliasing(true);
    return parser.parseFrom(in);
  }

  @Override
  public void onResponse(ByteBuf body) {
    try {
      reply.complete(decode(body, parser));
    } catch (IOException e) {
      reply.completeExceptionally(e);
    }
  }

  @Override
  public void onFailure(TransportException cause) {
    reply.completeExceptionally(cause);
  }

  CompletableFuture<T> reply() {
    return reply;
  }

  /** The link gave no answer in time. */
  void onTimeout(long timeoutMillis) {
    link.leaveIfUnanswered(timeoutMillis);
  }

  T await(long timeoutMillis) throws IOException {
    try {
      return reply.get(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("Interrupted while waiting.").initCause(e);
    } catch (TimeoutException e) {
      onTimeout(timeoutMillis);
      throw new TimeoutIOException(
          "No answer from " + link.address() + " in " + timeoutMillis + " ms.", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException io) {
        throw io;
      }
      throw new IOException(e.getCause());
    }
  }
}
