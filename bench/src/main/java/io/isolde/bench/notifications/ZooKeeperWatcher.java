// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;

/** A session of ZooKeeper with a persistent watch, which need not be set again after an event. */
final class ZooKeeperWatcher implements Watcher, ZooKeeperWire.Owner {
  private static final int PERSISTENT = 0;

  private final InetSocketAddress server;
  private final EventLoop loop;
  private final Gate gate;
  private final Arrivals arrivals;
  private final Inbox inbox = new Inbox();
  private ZooKeeperWire session;
  private volatile String address = "";
  private volatile String failure = "";
  private volatile boolean isGone;

  ZooKeeperWatcher(InetSocketAddress server, EventLoop loop, Gate gate, Arrivals arrivals) {
    this.server = server;
    this.loop = loop;
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
            isGone = true;
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
            address = server.getHostString() + ":" + server.getPort();
            inbox.startAfter(answer.transaction());
          } else {
            failure = "ZooKeeper refuses a watch with the error " + answer.error() + ".";
          }
        });
  }

  @Override
  public void changed(long transaction) {
    arrivals.arrived(inbox, transaction);
  }

  @Override
  public void closed() {
    address = "";
    isGone = true;
    failure = "ZooKeeper has closed the connection.";
  }

  @Override
  public boolean isGone() {
    return isGone;
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public Inbox inbox() {
    return inbox;
  }

  @Override
  public String failure() {
    return failure;
  }
}
