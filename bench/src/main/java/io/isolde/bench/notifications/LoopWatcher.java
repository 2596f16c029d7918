// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.netty.channel.EventLoop;

/** A watcher, whichever system it watches. What it shows is changed by its event loop only. */
abstract class LoopWatcher implements Watcher {
  final EventLoop loop;
  private final Inbox inbox = new Inbox();
  private volatile String address = "";
  private volatile String failure = "";
  private volatile boolean isGone;

  LoopWatcher(EventLoop loop) {
    this.loop = loop;
  }

  final void isAt(String now) {
    address = now;
  }

  final void hasFailed(String why) {
    failure = why;
  }

  final void isGone(boolean now) {
    isGone = now;
  }

  @Override
  public final boolean isGone() {
    return isGone;
  }

  @Override
  public final String address() {
    return address;
  }

  @Override
  public final Inbox inbox() {
    return inbox;
  }

  @Override
  public final String failure() {
    return failure;
  }
}
