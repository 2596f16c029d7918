// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.james.imap.decode.ImapDecoder;
import org.apache.james.imapserver.netty.ImapRequestFrameDecoder;
import org.apache.james.imapserver.netty.NettyConstants;
import org.apache.james.imapserver.netty.SwitchableLineBasedFrameDecoder;

/**
 * James' decoder of commands. After a literal it splits lines on the network's thread, where they
 * come from, and not between {@link ImapFlow} and itself; so the flow stays in charge.
 */
final class FramedDecoder extends ImapRequestFrameDecoder {

  /** The name of the handler that reads. */
  static final String FLOW = "flow";

  private final int maxLineBytes;
  private final AtomicBoolean isFraming = new AtomicBoolean(true);

  FramedDecoder(
      ImapDecoder decoder, int maxLiteralInMemory, int maxLiteralBytes, int maxLineBytes) {
    super(decoder, maxLiteralInMemory, maxLiteralBytes, maxLineBytes);
    this.maxLineBytes = maxLineBytes;
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
    ClientAddress.during(
        client.getAddress(),
        () -> {
          super.decode(context, in, out);
          return null;
        });
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
      ChannelPipeline pipeline = context.pipeline();
      pipeline.addBefore(
          FLOW,
          NettyConstants.FRAMER,
          new SwitchableLineBasedFrameDecoder(pipeline, maxLineBytes, false));
    }
  }
}
