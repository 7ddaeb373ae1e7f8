import java.awt.GridLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import javax.swing.JComponent;
import javax.swing.JFrame;
import javax.swing.JPasswordField;
import javax.swing.JTextField;
import javax.swing.SwingUtilities;
import javax.swing.event.DocumentEvent;
import javax.swing.event.DocumentListener;

/** A window of Swing that asks for a name and a password; LOG gets a line of JSON for each change of the password. */
class Login {
    public static void main(String[] arguments) {
        Path log = Path.of(arguments[0]);
        SwingUtilities.invokeLater(() -> open(log));
    }

    private static void open(Path log) {
        JTextField name = new JTextField();
        JPasswordField password = new JPasswordField();
        password.getDocument().addDocumentListener(new DocumentListener() {
            @Override
            public void insertUpdate(DocumentEvent event) {
                keep(log, new String(password.getPassword()));
            }

            @Override
            public void removeUpdate(DocumentEvent event) {
                keep(log, new String(password.getPassword()));
            }

            @Override
            public void changedUpdate(DocumentEvent event) {
            }
        });
        JFrame frame = new JFrame("Login Swing");
        frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        frame.setLayout(new GridLayout(2, 1));
        for (JComponent field : List.of(name, password)) {
            field.getAccessibleContext().setAccessibleName(field == name ? "Name" : "Password");
            frame.add(field);
        }
        frame.setSize(400, 200);
        frame.setVisible(true);
    }

    private static void keep(Path log, String password) {
        try {
            Files.writeString(log, "\"" + password + "\"\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException problem) {
            throw new IllegalStateException(problem);
        }
    }
}
