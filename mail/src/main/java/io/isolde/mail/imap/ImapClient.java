// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.james.imap.api.message.response.ImapResponseMessage;
import org.apache.james.imap.api.process.ImapProcessor.Responder;
import org.apache.james.imap.encode.ImapEncoder;
import org.apache.james.imap.encode.ImapResponseComposer;
import org.apache.james.imap.encode.ImapResponseWriter;
import org.apache.james.imap.encode.base.ImapResponseComposerImpl;
import org.apache.james.imap.message.Literal;
import org.apache.james.imap.message.response.ExpungeResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Schedulers;

/**
 * The way to a client of IMAP. One thread writes at a time, and writes a whole response, literals
 * included. Whoever writes the answer to a command waits until the client takes it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
final class ImapClient {
  private static final Logger log = LoggerFactory.getLogger(ImapClient.class);

  /** A client has a minute for each part. */
  private static final int MAX_PART_BYTES = 64 << 10;

  /** What a client that does not read may owe us where nobody may wait for it. */
  private static final int MAX_OWED_BYTES = 4 << 20;

  private final ChannelHandlerContext context;
  private final ImapEncoder encoder;
  private final SlowClients slow;
  private final ReentrantLock lock = new ReentrantLock();

  /** Whether a response has ended half-way; what follows would be taken for its rest. */
  private volatile boolean isCutOff;

  /**
   * A client.
   *
   * @param context whose writes go to the network
   * @param slow of all connections
   */
  ImapClient(ChannelHandlerContext context, ImapEncoder encoder, SlowClients slow) {
    this.context = context;
    this.encoder = encoder;
    this.slow = slow;
  }

  Channel channel() {
    return context.channel();
  }

  /** Whether nothing can be said to the client any more. */
  boolean isGone() {
    return isCutOff || !context.channel().isActive();
  }

  /** Writes bytes between responses. */
  void write(ByteBuf bytes) {
    write(bytes, context.newPromise());
  }

  /** As {@link #write(ByteBuf)}, with a promise that is kept when they have left. */
  void write(ByteBuf bytes, ChannelPromise written) {
    lock.lock();
    try {
      context.writeAndFlush(bytes, written);
    } finally {
      lock.unlock();
    }
  }

  private void cutOff(Throwable cause) {
    isCutOff = true;
    log.info("{} is closed, since an answer ended half-way", context.channel(), cause);
    context.channel().close();
  }

  /** The answers to a command. */
  final class Answers implements Responder, ImapResponseWriter {
    private final ImapResponseComposer composer = new ImapResponseComposerImpl(this);

    /** Whether the command has ended. What comes later is news for a client that idles. */
    private volatile boolean isEnded;

    /**
     * Writes a response.
     *
     * @throws CancellationException if the client has gone while its command was worked on
     */
    @Override
    public void respond(ImapResponseMessage message) {
      if (isOfUnknownMessage(message)) {
        return;
      }
      lock.lock();
      try {
        if (isGone()) {
          stop();
          return;
        }
        encoder.encode(message, composer);
        if (isEnded) {
          composer.flush();
        }
      } catch (IOException | RuntimeException e) {
        cutOff(e);
        stop();
      } finally {
        lock.unlock();
      }
    }

    /** A session may hear of one expunge from two servers. */
    private static boolean isOfUnknownMessage(ImapResponseMessage message) {
      return message instanceof ExpungeResponse expunge
          && expunge.getMessageSequenceNumber().asInt().isEmpty();
    }

    private void stop() {
      if (!isEnded) {
        throw new CancellationException("The client has gone");
      }
    }

    @Override
    public void flush() {
      lock.lock();
      try {
        if (!isGone()) {
          composer.flush();
        }
      } catch (IOException e) {
        cutOff(e);
      } finally {
        lock.unlock();
      }
    }

    /** Writes what is left of the command's answers; later ones are written at once. */
    void end() {
      flush();
      isEnded = true;
      flush();
    }

    @Override
    public void write(byte[] bytes) throws IOException {
      for (int start = 0; start < bytes.length; start += MAX_PART_BYTES) {
        int length = Math.min(MAX_PART_BYTES, bytes.length - start);
        await(context.writeAndFlush(Unpooled.wrappedBuffer(bytes, start, length)));
      }
    }

    /** Reads and sends part after part, at the client's pace. */
    @Override
    public void write(Literal literal) throws IOException {
      composer.flush();
      try (InputStream in = literal.getInputStream()) {
        for (long left = literal.size(); left > 0; ) {
          byte[] part = in.readNBytes((int) Math.min(left, MAX_PART_BYTES));
          if (part.length == 0) {
            throw new EOFException("%d bytes of a literal are missing".formatted(left));
          }
          write(part);
          left -= part.length;
        }
      }
    }

    /** Handlers of the channel end the connection of a client that takes nothing for long. */
    private void await(ChannelFuture written) throws IOException {
      Channel channel = context.channel();
      if (channel.isWritable()) {
        return;
      }
      if (isEnded || channel.eventLoop().inEventLoop() || Schedulers.isInNonBlockingThread()) {
        if (channel.bytesBeforeWritable() > MAX_OWED_BYTES) {
          throw new IOException("The client does not take its answers");
        }
        return;
      }
      try {
        slow.await(written);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("The server ends", e);
      }
      if (!written.isSuccess()) {
        throw new IOException("The client has gone", written.cause());
      }
    }
  }
}
