// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.connection.MailBounds;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Thousands of clients that say nothing. */
class IdleConnectionsTest {
  private static final int ALLOWED = 2_000;
  private static final int TRIED = 3_000;

  @Test
  void whenThousandsConnectAndSayNothingThenSoManyAreAllowedAndNoneStays() throws Exception {
    MailBounds bounds =
        MailBounds.standard()
            .withConnections(ALLOWED, ALLOWED)
            .withTimes(Duration.ofMinutes(1), Duration.ofSeconds(6));
    List<Socket> silent = new ArrayList<>();
    try (TestServer server = TestServer.start(bounds)) {
      int threads = Thread.activeCount();
      for (int i = 0; i < TRIED; i++) {
        silent.add(new Socket(InetAddress.getLoopbackAddress(), server.server.imapPort()));
      }
      assertThat(server.server.connections()).isLessThanOrEqualTo(ALLOWED);
      assertThat(Thread.activeCount() - threads).as("threads").isLessThan(40);
      // The other ports have room of their own.
      server.deliver(ALICE, "Subject: x\r\n\r\nx\r\n");
      try (RawClient client = new RawClient(server.server.pop3Port())) {
        client.read();
        client.say("USER " + ALICE);
        assertThat(client.say("PASS " + TestServer.PASSWORD)).startsWith("+OK");
        assertThat(client.say("STAT")).startsWith("+OK 1 ");
      }
      server.awaitConnections(0);
      try (RawClient client = new RawClient(server.server.imapPort())) {
        assertThat(client.read()).startsWith("* OK");
      }
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }
}
