// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * What nodes say to each other about groups, over the port of a {@link GroupServer}. Its texts have
 * a length of four bytes; those of the oracle's {@code Wire} have one of two. Nodes of other builds
 * count on both, so that there are two ways to write one.
 */
final class GroupMessages {
  static final byte SERVICE = 2;

  static final byte WRITE = 1;
  static final byte READ = 2;
  static final byte DECIDE = 3;
  static final byte STATE = 4;
  static final byte REJOIN = 5;
  static final byte LOAD = 6;
  static final byte LEAD = 7;
  static final byte APPLIED = 8;
  static final byte JOIN = 9;
  static final byte REPLACE = 10;
  static final byte MEMBERS = 11;
  static final byte STATUS = 12;
  static final byte READ_MEMBER = 13;
  static final byte STAY = 14;

  /** As {@link #DECIDE}, after an attempt without an answer. */
  static final byte DECIDE_AGAIN = 15;

  static final byte TAKE_IN = 16;

  static final byte OK = 100;

  /** With a reason, the leader if it is known, and a message. */
  private static final byte FAILED = 101;

  private GroupMessages() {}

  static ByteBuf buffer(int bytes) {
    return PooledByteBufAllocator.DEFAULT.buffer(bytes);
  }

  static ByteBuf request(byte what, UUID group, int bytes) {
    ByteBuf out = buffer(1 + 2 * Long.BYTES + bytes).writeByte(what);
    return out.writeLong(group.getMostSignificantBits()).writeLong(group.getLeastSignificantBits());
  }

  static UUID uuid(ByteBuf in) {
    return new UUID(in.readLong(), in.readLong());
  }

  static void write(ByteBuf out, RequestId id) {
    out.writeLong(id.session()).writeLong(id.number()).writeLong(id.oldestOpen());
  }

  static RequestId requestId(ByteBuf in) {
    return new RequestId(in.readLong(), in.readLong(), in.readLong());
  }

  static void write(ByteBuf out, int[] numbers) {
    out.writeInt(numbers.length);
    for (int number : numbers) {
      out.writeInt(number);
    }
  }

  static int[] numbers(ByteBuf in) {
    int[] numbers = new int[in.readInt()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = in.readInt();
    }
    return numbers;
  }

  static byte[] rest(ByteBuf in) {
    byte[] bytes = new byte[in.readableBytes()];
    in.readBytes(bytes);
    return bytes;
  }

  /** Asks a node; fails with a {@link GroupFailure} or why there is no answer. */
  static CompletableFuture<byte[]> ask(NodeConnections connections, Peer node, ByteBuf message) {
    return connections.request(node.address(), SERVICE, message, GroupMessages::answer);
  }

  private static byte[] answer(ByteBuf body) {
    if (body.readByte() != OK) {
      throw failure(body);
    }
    return rest(body);
  }

  static ByteBuf failure(GroupFailure failure) {
    ByteBuf out = buffer(128).writeByte(FAILED);
    text(out, failure.reason().name());
    text(out, failure.leader().map(Peer::toLine).orElse(""));
    text(out, String.valueOf(failure.getMessage()));
    return out;
  }

  private static GroupFailure failure(ByteBuf in) {
    GroupFailure.Reason reason = GroupFailure.Reason.valueOf(text(in));
    String leader = text(in);
    Optional<Peer> peer = Optional.of(leader).filter(line -> !line.isEmpty()).map(Peer::parse);
    return new GroupFailure(reason, text(in), peer, null);
  }

  static void text(ByteBuf out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length).writeBytes(bytes);
  }

  static void peer(ByteBuf out, Peer peer) {
    text(out, peer.id());
    text(out, peer.address().getHostString());
    out.writeInt(peer.address().getPort());
  }

  static Peer peer(ByteBuf in) {
    String id = text(in);
    return new Peer(id, new InetSocketAddress(text(in), in.readInt()));
  }

  static byte[] bytes(List<Peer> peers) {
    ByteBuf out = buffer(64 * peers.size());
    try {
      peers.forEach(peer -> peer(out, peer));
      return rest(out);
    } finally {
      out.release();
    }
  }

  static List<Peer> peers(byte[] bytes) {
    ByteBuf in = Unpooled.wrappedBuffer(bytes);
    List<Peer> peers = new ArrayList<>();
    while (in.isReadable()) {
      peers.add(peer(in));
    }
    return peers;
  }

  static String text(ByteBuf in) {
    return in.readCharSequence(in.readInt(), StandardCharsets.UTF_8).toString();
  }
}
