// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.cluster.LocalNode;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.connection.MailBounds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Two mail servers for the mailboxes of one store on a node, each with a session of its own. */
final class NodeServers implements AutoCloseable {
  static final String DOMAIN = "isolde.test";
  static final String PASSWORD = "correct horse";

  /** Iterations of hashes: these tests are not about guessing. */
  static final int CHEAP = 10;

  final String keyspace;
  final MailStorage storage;
  final MailServer first;
  final MailServer second;
  private final MailStorage storageOfSecond;

  private NodeServers(MailStorage.Place place, Path certificate) throws Exception {
    keyspace = place.keyspace();
    storage = MailStorage.open(place, DOMAIN, CHEAP);
    storageOfSecond = MailStorage.open(place, DOMAIN, CHEAP);
    OwnCertificate.createIfMissing(certificate, "mx.isolde.test", "secret");
    MailServerSettings settings =
        new MailServerSettings(
            "127.0.0.1",
            0,
            0,
            0,
            "mx.isolde.test",
            true,
            Optional.of(MailFolder.tls(certificate, "secret")),
            8,
            MailBounds.standard());
    first = MailServer.start(settings, storage.parts());
    second = MailServer.start(settings, storageOfSecond.parts());
  }

  /** Starts them over a keyspace that the tests of a class share. */
  static NodeServers start(
      LocalNode node, MailConsistency store, String name, Path folder, String... users)
      throws Exception {
    String keyspace = "%s_%s".formatted(name, store.name().toLowerCase(Locale.ROOT));
    NodeServers servers =
        new NodeServers(
            new MailStorage.Place(
                List.of(node.contactPoint()), Optional.empty(), "", keyspace, store),
            Files.createDirectories(folder).resolve("own.p12"));
    for (String user : users) {
      assertThat(servers.storage.users().add(user + "@" + DOMAIN, PASSWORD)).isTrue();
    }
    return servers;
  }

  @Override
  public void close() {
    first.close();
    second.close();
    storage.close();
    storageOfSecond.close();
  }
}
