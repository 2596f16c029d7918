// SPDX-License-Identifier: Apache-2.0
package io.isolde.replicated;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.config.IsoldeConfig;
import io.isolde.testing.CassandraInProcess;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.function.Predicate;
import org.apache.cassandra.utils.FBUtilities;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the event loops ask for each connection must be known beforehand. */
class CassandraNodeTest {
  private static final String CONFIG = "cassandra.config";

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  /** The list of seeds is read anew whenever it is asked for; from this file that would fail. */
  @Test
  void whenAConnectionComesInThenTheConfigurationIsNotReadForIt() throws UnknownHostException {
    Predicate<InetSocketAddress> accept =
        new CassandraNode(IsoldeConfig.ofThisNode().oracle()).ofThisCluster();
    String before = System.setProperty(CONFIG, "file:///there/is/no/such.yaml");
    try {
      assertThat(accept.test(at(FBUtilities.getJustLocalAddress()))).isTrue();
      assertThat(accept.test(at(InetAddress.getByName("192.0.2.1")))).isFalse();
    } finally {
      System.setProperty(CONFIG, before);
    }
  }

  private static InetSocketAddress at(InetAddress address) {
    return new InetSocketAddress(address, 40_000);
  }
}
