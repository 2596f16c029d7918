// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.mail.MailConsistency;
import io.isolde.mail.server.MailFolder;
import io.isolde.mail.server.MailServerSettings;
import io.isolde.mail.server.OwnCertificate;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options that say how a mail server is to run. */
final class MailOptions {

  /** It protects nothing that the file's permissions do not; PKCS12 wants one. */
  private static final String PASSWORD_OF_OWN_KEYSTORE = "isolde-mail";

  @Option(
      names = "--store",
      paramLabel = "KIND",
      converter = MailOptions.KindConverter.class,
      description =
          "How mailboxes are kept: transactional, strong, quorum or serial. A keyspace keeps its"
              + " kind. At first: transactional.")
  private MailConsistency consistency;

  @Option(
      names = "--keyspace",
      paramLabel = "NAME",
      description = "Where; it is created if it is missing. At first: mail.")
  private String keyspace;

  @Option(
      names = "--domain",
      paramLabel = "NAME",
      description =
          "The domain of users who leave it out, and the server's name. At first: localhost.")
  private String domain;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      description = "Where clients connect. At first: 127.0.0.1.")
  private String address;

  @Option(names = "--smtp-port", paramLabel = "PORT", description = "SMTP. At first: 2525.")
  private Integer smtpPort;

  @Option(names = "--pop3-port", paramLabel = "PORT", description = "POP3. At first: 2110.")
  private Integer pop3Port;

  @Option(names = "--imap-port", paramLabel = "PORT", description = "IMAP. At first: 2143.")
  private Integer imapPort;

  @Option(
      names = "--keystore",
      paramLabel = "FILE",
      description = "Key and certificate for TLS, PKCS12. At first: one that the server has made.")
  private Path keystore;

  @Option(
      names = "--keystore-password",
      paramLabel = "PASSWORD",
      arity = "0..1",
      interactive = true,
      description = "Asked for if it is left out behind the option.")
  private String keystorePassword;

  @Option(
      names = "--passwords-in-clear",
      negatable = true,
      description = "Let clients log in without TLS. For tests and benchmarks. At first: no.")
  private Boolean isClearAllowed;

  @Option(
      names = "--workers",
      paramLabel = "NUMBER",
      description =
          "Threads that wait for the cluster. At first: " + MailServerSettings.WORKERS + ".")
  private Integer workers;

  /** In lower case, as all that one types. */
  static final class KindConverter implements ITypeConverter<MailConsistency> {
    @Override
    public MailConsistency convert(String text) {
      for (MailConsistency kind : MailConsistency.values()) {
        if (kind.name().toLowerCase(Locale.ROOT).equals(text)) {
          return kind;
        }
      }
      throw new TypeConversionException(
          "\"%s\" is not transactional, strong, quorum or serial.".formatted(text));
    }
  }

  /** As the options say. What they do not say stays as it was at the last start. */
  Properties toSettings(Home home, NodeAccess access, MailFolder folder) throws IOException {
    Properties settings = folder.exists() ? folder.properties() : new Properties();
    if (access.isToBeAsked(home, settings.getProperty(MailFolder.NODES))) {
      settings.setProperty(MailFolder.NODES, CqlConnection.name(access.contactPoint(home)));
    }
    set(settings, MailFolder.STORE, consistency, MailConsistency.TRANSACTIONAL);
    set(settings, MailFolder.KEYSPACE, keyspace, "mail");
    set(settings, MailFolder.DOMAIN, domain, "localhost");
    set(settings, MailFolder.ADDRESS, address, "127.0.0.1");
    set(settings, MailFolder.SMTP_PORT, smtpPort, 2525);
    set(settings, MailFolder.POP3_PORT, pop3Port, 2110);
    set(settings, MailFolder.IMAP_PORT, imapPort, 2143);
    set(settings, MailFolder.WORKERS, workers, MailServerSettings.WORKERS);
    set(settings, MailFolder.PASSWORDS_IN_CLEAR, isClearAllowed, false);
    setKeystore(settings, folder);
    access
        .credentials()
        .ifPresent(
            login -> {
              settings.setProperty(MailFolder.CQL_USER, login.user());
              settings.setProperty(MailFolder.CQL_PASSWORD, login.password());
            });
    return settings;
  }

  private static void set(Properties settings, String name, Object said, Object atFirst) {
    if (said != null || !settings.containsKey(name)) {
      settings.setProperty(name, text(said == null ? atFirst : said));
    }
  }

  private static String text(Object value) {
    return value instanceof MailConsistency kind
        ? kind.name().toLowerCase(Locale.ROOT)
        : value.toString();
  }

  private void setKeystore(Properties settings, MailFolder folder) throws IOException {
    if (keystore != null) {
      settings.setProperty(MailFolder.KEYSTORE, keystore.toAbsolutePath().toString());
      settings.setProperty(MailFolder.KEYSTORE_PASSWORD, "");
    } else if (!settings.containsKey(MailFolder.KEYSTORE)) {
      setOwnCertificate(settings, folder, settings.getProperty(MailFolder.DOMAIN));
    }
    if (keystorePassword != null) {
      settings.setProperty(MailFolder.KEYSTORE_PASSWORD, keystorePassword);
    }
  }

  static void setPlace(
      Properties settings,
      InetSocketAddress node,
      MailConsistency consistency,
      String keyspace,
      String domain) {
    settings.setProperty(MailFolder.NODES, CqlConnection.name(node));
    settings.setProperty(MailFolder.STORE, text(consistency));
    settings.setProperty(MailFolder.KEYSPACE, keyspace);
    settings.setProperty(MailFolder.DOMAIN, domain);
  }

  static void setOwnCertificate(Properties settings, MailFolder folder, String hostName)
      throws IOException {
    Path file = folder.path("own-certificate.p12").toAbsolutePath();
    Files.createDirectories(file.getParent());
    OwnCertificate.createIfMissing(file, hostName, PASSWORD_OF_OWN_KEYSTORE);
    settings.setProperty(MailFolder.KEYSTORE, file.toString());
    settings.setProperty(MailFolder.KEYSTORE_PASSWORD, PASSWORD_OF_OWN_KEYSTORE);
  }
}
