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
import picocli.CommandLine.Help.Visibility;
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
      defaultValue = "transactional",
      converter = MailOptions.KindConverter.class,
      description =
          "How mailboxes are kept: transactional, strong, quorum or serial. A keyspace keeps its"
              + " kind.")
  private MailConsistency consistency;

  @Option(
      names = "--keyspace",
      paramLabel = "NAME",
      defaultValue = "mail",
      description = "Where; it is created if it is missing.")
  private String keyspace;

  @Option(
      names = "--domain",
      paramLabel = "NAME",
      defaultValue = "localhost",
      description = "The domain of users who leave it out, and the server's name.")
  private String domain;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1",
      description = "Where clients connect.")
  private String address;

  @Option(names = "--smtp-port", paramLabel = "PORT", defaultValue = "2525", description = "SMTP.")
  private int smtpPort;

  @Option(names = "--pop3-port", paramLabel = "PORT", defaultValue = "2110", description = "POP3.")
  private int pop3Port;

  @Option(names = "--imap-port", paramLabel = "PORT", defaultValue = "2143", description = "IMAP.")
  private int imapPort;

  @Option(
      names = "--keystore",
      paramLabel = "FILE",
      description = "Key and certificate for TLS, PKCS12. Default: one that the server has made.",
      showDefaultValue = Visibility.NEVER)
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
      description = "Let clients log in without TLS. For tests and benchmarks.")
  private boolean isClearAllowed;

  @Option(
      names = "--workers",
      paramLabel = "NUMBER",
      defaultValue = "" + MailServerSettings.WORKERS,
      description = "Threads that wait for the cluster.")
  private int workers;

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

  Properties toSettings(Home home, NodeAccess access, MailFolder folder) throws IOException {
    Properties settings = new Properties();
    setPlace(settings, access.contactPoint(home), consistency, keyspace, domain);
    settings.setProperty(MailFolder.ADDRESS, address);
    settings.setProperty(MailFolder.SMTP_PORT, Integer.toString(smtpPort));
    settings.setProperty(MailFolder.POP3_PORT, Integer.toString(pop3Port));
    settings.setProperty(MailFolder.IMAP_PORT, Integer.toString(imapPort));
    settings.setProperty(MailFolder.WORKERS, Integer.toString(workers));
    settings.setProperty(MailFolder.PASSWORDS_IN_CLEAR, Boolean.toString(isClearAllowed));
    if (keystore == null) {
      setOwnCertificate(settings, folder, domain);
    } else {
      settings.setProperty(MailFolder.KEYSTORE, keystore.toAbsolutePath().toString());
      settings.setProperty(
          MailFolder.KEYSTORE_PASSWORD, keystorePassword == null ? "" : keystorePassword);
    }
    access
        .credentials()
        .ifPresent(
            login -> {
              settings.setProperty(MailFolder.CQL_USER, login.user());
              settings.setProperty(MailFolder.CQL_PASSWORD, login.password());
            });
    return settings;
  }

  static void setPlace(
      Properties settings,
      InetSocketAddress node,
      MailConsistency consistency,
      String keyspace,
      String domain) {
    settings.setProperty(MailFolder.NODES, CqlConnection.name(node));
    settings.setProperty(MailFolder.STORE, consistency.name().toLowerCase(Locale.ROOT));
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
