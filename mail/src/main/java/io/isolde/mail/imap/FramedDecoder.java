// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.james.imap.api.process.ImapSession;
import org.apache.james.imap.decode.ImapDecoder;
import org.apache.james.imap.message.request.StartTLSRequest;
import org.apache.james.imapserver.netty.ImapRequestFrameDecoder;
import org.apache.james.imapserver.netty.NettyConstants;

/**
 * James' decoder of commands. After a literal it splits lines on the network's thread, where they
 * come from, and not between {@link ImapFlow} and itself; so the flow stays in charge.
 *
 * <p>STARTTLS is passed on when all that was read with it has been looked at, and nothing is read
 * until TLS is there. What was read behind it is in clear, and ends the connection.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the connection ends, whatever comes of it
final class FramedDecoder extends ImapRequestFrameDecoder {

  /** The name of the handler that reads. */
  static final String FLOW = "flow";

  private final int maxLineBytes;
  private final AtomicBoolean isFraming = new AtomicBoolean(true);

  private final ImapFlow flow;

  /** From STARTTLS to the end of the handshake; only the thread of the decoder uses it. */
  private boolean isTlsStarting;

  /** Waits for the end of what was read with it; null if there is none. */
  private StartTLSRequest startTls;

  FramedDecoder(
      ImapDecoder decoder,
      int maxLiteralInMemory,
      int maxLiteralBytes,
      int maxLineBytes,
      ImapFlow flow) {
    super(decoder, maxLiteralInMemory, maxLiteralBytes, maxLineBytes);
    this.maxLineBytes = maxLineBytes;
    this.flow = flow;
  }

  /** The second step of AUTHENTICATE checks the password in here. */
  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Exception {
    InetSocketAddress client = (InetSocketAddress) context.channel().remoteAddress();
    if (client == null) {
      in.skipBytes(in.readableBytes()); // the client has gone
      return;
    }
    if (!isTlsStarting) {
      ClientAddress.during(
          client.getAddress(),
          () -> {
            super.decode(context, in, out);
            return null;
          });
      holdStartTls(context, out);
    }
    if (isTlsStarting && in.isReadable()) {
      in.skipBytes(in.readableBytes());
      startTls = null;
      context.close();
    }
  }

  private void holdStartTls(ChannelHandlerContext context, List<Object> out) {
    int last = out.size() - 1;
    if (last >= 0
        && out.get(last) instanceof StartTLSRequest request
        && session(context).map(ImapSession::supportStartTLS).orElse(false)) {
      out.remove(last);
      startTls = request;
      isTlsStarting = true;
    }
  }

  /** Netty's decoder would read on if a read has given no message. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) throws Exception {
    if (startTls == null) {
      super.channelReadComplete(context);
      return;
    }
    StartTLSRequest request = startTls;
    startTls = null;
    flow.stopReading();
    context.fireChannelRead(request);
    context.fireChannelReadComplete();
  }

  private static Optional<ImapSession> session(ChannelHandlerContext context) {
    return Optional.ofNullable(
        context.channel().attr(NettyConstants.IMAP_SESSION_ATTRIBUTE_KEY).get());
  }

  /** The handler of TLS says when the handshake has ended, and passes nothing on before. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
    if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
      isTlsStarting = false;
    }
    super.userEventTriggered(context, event);
  }

  @Override
  public void disableFraming(ChannelHandlerContext context) {
    if (isFraming.getAndSet(false)) {
      context.pipeline().remove(NettyConstants.FRAMER);
    }
  }

  @Override
  public void enableFraming(ChannelHandlerContext context) {
    if (!isFraming.getAndSet(true)) {
      context.pipeline().addBefore(FLOW, NettyConstants.FRAMER, lines(maxLineBytes));
    }
  }

  static Lines lines(int maxLineBytes) {
    return new Lines(maxLineBytes);
  }

  /** Splits lines: a command has one, apart from its literals. */
  static final class Lines extends LineBasedFrameDecoder {
    private Lines(int maxLineBytes) {
      super(maxLineBytes, false, false);
    }

    /** Whether a line has come in part. */
    boolean hasPart() {
      return actualReadableBytes() > 0;
    }
  }
}
