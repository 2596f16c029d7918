// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.mail.login.PasswordHash;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MailFolderTest {
  @TempDir Path path;

  private MailFolder folder(String iterations) throws Exception {
    Properties settings = new Properties();
    settings.setProperty(MailFolder.ADDRESS, "127.0.0.1");
    settings.setProperty(MailFolder.SMTP_PORT, "0");
    settings.setProperty(MailFolder.POP3_PORT, "0");
    settings.setProperty(MailFolder.IMAP_PORT, "0");
    settings.setProperty(MailFolder.DOMAIN, "isolde.test");
    settings.setProperty(MailFolder.KEYSPACE, "mail");
    settings.setProperty(MailFolder.STORE, "strong");
    settings.setProperty(MailFolder.NODES, "127.0.0.1:9042");
    settings.setProperty(MailFolder.PASSWORDS_IN_CLEAR, "true");
    settings.setProperty(MailFolder.WORKERS, "8");
    if (iterations != null) {
      settings.setProperty(MailFolder.PASSWORD_ITERATIONS, iterations);
    }
    MailFolder folder = new MailFolder(path);
    folder.write(settings);
    return folder;
  }

  @Test
  void whenTheWorkOfHashesIsNotSaidThenItIsTheRecommendedOne() throws Exception {
    assertThat(folder(null).read().passwordIterations()).isEqualTo(PasswordHash.ITERATIONS);
    assertThat(folder("300000").read().passwordIterations()).isEqualTo(300_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "10000001", "many", ""})
  void whenTheWorkOfHashesIsWrongThenTheSettingIsNamed(String iterations) throws Exception {
    MailFolder folder = folder(iterations);
    assertThatThrownBy(folder::read)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("password_iterations");
  }
}
