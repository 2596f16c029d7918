// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StudyPageTest {
  @TempDir Path folder;

  @Test
  void whenAStudyIsReportedThenThePapersStatementsAreConfirmedOrNot() throws Exception {
    String html = Files.readString(new StudyPage(Samples.study()).write(folder));

    assertThat(html)
        .contains("R=1 W=3 against R=3 W=1<td>9.4<td>5.35<td>5.35<td>confirmed in kind only")
        .contains("R=3 W=1 against R=1 W=3<td>2.4<td>2.21<td>2.21<td>confirmed<tr>");
  }

  @Test
  void whenLatenciesArePredictedThenTheirIntervalsStandBesideThem() throws Exception {
    String html = Files.readString(new StudyPage(Samples.study()).write(folder));

    assertThat(html).contains("<td>R1W3<td>52.00 (52.00)<td>46.80 (46.80 [44.46, 51.48])");
  }

  @Test
  void whenWhatShouldBeSlowerIsFasterThenTheStatementIsNotConfirmed() {
    assertThat(new PaperStatement("writes", 9.4, 0.9, 12).verdict()).isEqualTo("not confirmed");
    assertThat(new PaperStatement("reads", 2.4, 6.3, 6).verdict()).isEqualTo("confirmed, by more");
  }

  @Test
  void whenASettingWasNotMeasuredThenNothingIsSaidOfIt() {
    assertThat(PaperStatement.of(List.of(Samples.setting("R1W3", true, 1, 2)))).isEmpty();
  }

  @Test
  void whenRowsWereNotMeasuredThenTheReportCountsThem() throws Exception {
    String html = Files.readString(new StudyPage(Samples.study()).write(folder));

    assertThat(html).contains("<th>rows not measured", "<td>3<td>7", "Rows not measured: 5.");
  }
}
