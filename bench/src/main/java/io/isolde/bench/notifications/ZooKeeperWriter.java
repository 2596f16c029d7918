// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.cluster.ToolException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/** Sets the data of the node that all sessions watch. */
final class ZooKeeperWriter implements Writer, ZooKeeperWire.Owner {
  static final String PATH = "/watched";

  private static final int NODE_EXISTS = -110;
  private static final int ANY_VERSION = -1;
  private static final int ALL_PERMISSIONS = 31;
  private static final long MAX_ANSWER_SECONDS = 15;

  private final EventLoop loop;
  private final CompletableFuture<ZooKeeperWire> session = new CompletableFuture<>();
  private int last;

  /** Connects, and creates the node. */
  ZooKeeperWriter(InetSocketAddress server, EventLoop loop) {
    this.loop = loop;
    ZooKeeperWire.connect(loop, server, new Gate(), this);
    var unused =
        ask(
            ZooKeeperWire.CREATE,
            body -> {
              ZooKeeperWire.write(body, PATH);
              ZooKeeperWire.write(body, new byte[Integer.BYTES]);
              body.writeInt(1).writeInt(ALL_PERMISSIONS);
              ZooKeeperWire.write(body, "world");
              ZooKeeperWire.write(body, "anyone");
              body.writeInt(0);
            },
            ZooKeeperWire.Answer::transaction);
  }

  @Override
  public long change() {
    int version = ++last;
    return ask(
        ZooKeeperWire.SET_DATA,
        body -> {
          ZooKeeperWire.write(body, PATH);
          body.writeInt(Integer.BYTES).writeInt(version).writeInt(ANY_VERSION);
        },
        ZooKeeperWriter::changedBy);
  }

  /** Of the node's state: who created it, and who changed it last. */
  private static long changedBy(ZooKeeperWire.Answer answer) {
    return answer.body().skipBytes(Long.BYTES).readLong();
  }

  private long ask(
      int type, Consumer<ByteBuf> content, ToLongFunction<ZooKeeperWire.Answer> result) {
    CompletableFuture<Long> answered = new CompletableFuture<>();
    var unused =
        session.whenCompleteAsync(
            (open, error) -> {
              if (error == null) {
                open.request(type, content, answer -> answer(answered, answer, result));
              } else {
                answered.completeExceptionally(error);
              }
            },
            loop);
    try {
      return answered.orTimeout(MAX_ANSWER_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw new DoubtfulException(e.getCause());
    }
  }

  private static void answer(
      CompletableFuture<Long> answered,
      ZooKeeperWire.Answer answer,
      ToLongFunction<ZooKeeperWire.Answer> result) {
    if (answer.error() == 0) {
      answered.complete(result.applyAsLong(answer));
    } else if (answer.error() == NODE_EXISTS) {
      answered.complete(answer.transaction());
    } else {
      answered.completeExceptionally(
          new ToolException("ZooKeeper answers with the error " + answer.error() + "."));
    }
  }

  @Override
  public void opened(ZooKeeperWire made) {
    session.complete(made);
  }

  @Override
  public void changed(long transaction) {
    throw new IllegalStateException("It watches nothing.");
  }

  @Override
  public void closed() {
    session.completeExceptionally(new ToolException("ZooKeeper has closed the connection."));
  }

  @Override
  public void close() {
    var unused = session.thenAcceptAsync(ZooKeeperWire::close, loop);
  }
}
