// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.cluster.ToolException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** Leaders that are healthy hand over to others, again and again. */
final class HandOvers implements Fault {
  private static final int LEAST_PAUSE_MILLIS = 300;
  private static final int MAX_PAUSE_MILLIS = 1_500;
  private static final long JOIN_MILLIS = 30_000;

  private final CqlSession session;
  private final List<String> statements;
  private final List<String> addresses;
  private final Random random;
  private final Thread thread = new Thread(this::run, "hand-overs");
  private volatile boolean isOver;
  private final AtomicInteger done = new AtomicInteger();

  /**
   * @param statements that let somebody lead; the address in quotes is added
   * @param addresses who may
   */
  HandOvers(CqlSession session, List<String> statements, List<String> addresses, Random random) {
    this.session = session;
    this.statements = statements;
    this.addresses = addresses;
    this.random = random;
    thread.setDaemon(true);
  }

  @Override
  public String name() {
    return done.get() + " orders to lead";
  }

  @Override
  public void begin() {
    thread.start();
  }

  private void run() {
    try {
      while (!isOver) {
        order();
        Thread.sleep(LEAST_PAUSE_MILLIS + random.nextInt(MAX_PAUSE_MILLIS - LEAST_PAUSE_MILLIS));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void order() {
    String statement = statements.get(random.nextInt(statements.size()));
    String address = addresses.get(random.nextInt(addresses.size()));
    try {
      session.execute(statement + "'" + address + "'");
      done.incrementAndGet();
    } catch (DriverException e) {
      // Refused, as when the transfer target's log is behind, or too slow: the next one may do.
    }
  }

  @Override
  public void end() {
    isOver = true;
    try {
      thread.join(JOIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      throw new ToolException("A node was asked for a hand-over and never answered.");
    }
  }
}
