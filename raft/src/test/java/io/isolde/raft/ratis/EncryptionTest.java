// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.Echo;
import io.isolde.raft.transport.EventLoops;
import io.isolde.raft.transport.PeerClient;
import io.isolde.raft.transport.PeerTransport;
import io.isolde.raft.transport.TransportSecurity;
import io.isolde.raft.transport.TransportSettings;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that show each other a certificate. */
class EncryptionTest {
  private static final String PASSWORD = "secret";

  @TempDir Path directory;

  @Test
  void whenMembersHaveCertificatesThenTheyCommitAndStrangersAreRefused() throws Exception {
    TransportSecurity security = mutual(keyStore("members"));
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults(), security);
        EventLoops loops = EventLoops.forClients(1)) {
      cluster.propose(cluster.awaitLeader(), "secret");
      cluster.awaitApplied(List.of("secret"));
      PeerTransport server = cluster.members.get(0).transport;
      TransportSettings settings = TransportSettings.defaults();
      try (PeerClient client = Echo.connect(server, loops, settings, security)) {
        assertThat(client.isOpen()).isTrue();
      }
      TransportSecurity withoutCertificate =
          new TransportSecurity(
              security.server(),
              () -> {
                try {
                  return Optional.of(
                      SslContextBuilder.forClient()
                          .trustManager(trust(keyStore("members")))
                          .build());
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              });
      assertThatThrownBy(() -> Echo.connect(server, loops, settings, withoutCertificate))
          .isNotNull();
      assertThatThrownBy(() -> Echo.connect(server, loops, settings, TransportSecurity.none()))
          .isNotNull();
      TransportSecurity stranger = mutual(keyStore("stranger"));
      assertThatThrownBy(() -> Echo.connect(server, loops, settings, stranger)).isNotNull();
    }
  }

  private static TransportSecurity mutual(KeyStore store) throws Exception {
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(store, PASSWORD.toCharArray());
    SslContext server =
        SslContextBuilder.forServer(keys)
            .trustManager(trust(store))
            .clientAuth(ClientAuth.REQUIRE)
            .build();
    SslContext client =
        SslContextBuilder.forClient().keyManager(keys).trustManager(trust(store)).build();
    return new TransportSecurity(() -> Optional.of(server), () -> Optional.of(client));
  }

  private static TrustManagerFactory trust(KeyStore store) throws Exception {
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(store);
    return trust;
  }

  /** A key and its own certificate, which is also the only authority. */
  private KeyStore keyStore(String name) throws Exception {
    File file = directory.resolve(name + ".p12").toFile();
    if (!file.exists()) {
      List<String> command =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
              "-genkeypair",
              "-alias",
              name,
              "-keyalg",
              "EC",
              "-dname",
              "CN=" + name,
              "-storetype",
              "PKCS12",
              "-keystore",
              file.getPath(),
              "-storepass",
              PASSWORD);
      assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }
    KeyStore keys = KeyStore.getInstance(file, PASSWORD.toCharArray());
    KeyStore both = KeyStore.getInstance("PKCS12");
    both.load(null, null);
    both.setKeyEntry(
        name,
        keys.getKey(name, PASSWORD.toCharArray()),
        PASSWORD.toCharArray(),
        keys.getCertificateChain(name));
    both.setCertificateEntry(name + "-authority", keys.getCertificate(name));
    return both;
  }
}
