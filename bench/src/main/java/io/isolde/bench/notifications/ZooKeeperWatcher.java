// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;

/** A session of ZooKeeper with a persistent watch, which need not be set again after an event. */
final class ZooKeeperWatcher extends LoopWatcher implements ZooKeeperWire.Owner {
  private static final int PERSISTENT = 0;

  private final InetSocketAddress server;
  private final Gate gate;
  private final Arrivals arrivals;
  private ZooKeeperWire session;

  ZooKeeperWatcher(InetSocketAddress server, EventLoop loop, Gate gate, Arrivals arrivals) {
    super(loop);
    this.server = server;
    this.gate = gate;
    this.arrivals = arrivals;
  }

  @Override
  public void begin() {
    ZooKeeperWire.connect(loop, server, gate, this);
  }

  @Override
  public void end() {
    loop.execute(
        () -> {
          if (session == null) {
            isGone(true);
          } else {
            session.close();
          }
        });
  }

  @Override
  public void opened(ZooKeeperWire made) {
    session = made;
    made.request(
        ZooKeeperWire.ADD_WATCH,
        body -> {
          ZooKeeperWire.write(body, ZooKeeperWriter.PATH);
          body.writeInt(PERSISTENT);
        },
        answer -> {
          if (answer.error() == 0) {
            isAt(server.getHostString() + ":" + server.getPort());
            inbox().startAfter(answer.transaction());
          } else {
            hasFailed("ZooKeeper refuses a watch with the error " + answer.error() + ".");
          }
        });
  }

  @Override
  public void changed(long transaction) {
    arrivals.arrived(inbox(), transaction);
  }

  @Override
  public void closed() {
    isAt("");
    isGone(true);
    hasFailed("ZooKeeper has closed the connection.");
  }
}
