//! The words that are looked for and the rules about their order: tables, to be read and to be added to.
//!
//! A term is written as people write it; it is folded like the texts. `*` at its end lets the word go on. What is
//! in `Neutral` is longer than another term and takes its place, so that it does not count.

/// What a term stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concept {
    /// To ignore, to forget, to set aside.
    Forget,
    /// What came before.
    Prior,
    /// All, your, the system's.
    Whole,
    /// Yours alone.
    Your,
    /// Instructions and what is called nothing else.
    Orders,
    /// Rules, commands, prompts: there are others than those of a model.
    Rules,
    /// A program that reads and acts, in general.
    Agent,
    /// One of those by name.
    Product,
    /// Begins what is said to somebody.
    ToWhom,
    /// Is itself what an agent is told that it is.
    YouAreAnAgent,
    YouAre,
    /// Free of what binds it.
    Unbound,
    /// To call, to run.
    Call,
    /// A tool of this server, or what tools are called elsewhere.
    Tool,
    Must,
    /// What an agent can do.
    Act,
    Send,
    Secret,
    /// Somewhere else.
    Elsewhere,
    Reveal,
    /// What the model was told at first.
    YourPrompt,
    Not,
    Tell,
    TheUser,
    /// A whole sentence that nobody says to a person.
    Fixed,
    /// Claims that the person agreed.
    Consented,
    OpenRun,
    PasteThere,
    Neutral,
}

impl Concept {
    pub const fn bit(self) -> u64 {
        1 << self as u64
    }
}

/// Concepts that follow each other with at most `gap` bytes between one and the next, within a sentence.
#[derive(Debug)]
pub struct InjectionRule {
    pub why: &'static str,
    pub steps: &'static [Concept],
    pub gap: usize,
}

const fn build_rule(why: &'static str, gap: usize, steps: &'static [Concept]) -> InjectionRule {
    InjectionRule { why, steps, gap }
}

const FORGETTING: &str = "asks to ignore earlier instructions";
const ADDRESSED: &str = "addresses an AI";
const TOOLS: &str = "asks to call a tool";
const FREED: &str = "redefines a model's role";
const AWAY: &str = "asks to send secrets away";
const PROMPT: &str = "asks for the model's instructions";
const SECRECY: &str = "asks to keep something from the user";
const AUTHORITY: &str = "pretends to be the system";
const CONSENT: &str = "pretends that the user agreed";
const RUN: &str = "asks to paste into a command line";

pub const RULES: &[InjectionRule] = {
    use Concept::*;
    &[
        build_rule(FORGETTING, 28, &[Forget, Prior, Orders]),
        build_rule(FORGETTING, 12, &[Forget, Prior, Rules]),
        build_rule(FORGETTING, 20, &[Forget, Rules, Prior]),
        build_rule(FORGETTING, 20, &[Forget, Whole, Orders]),
        build_rule(FORGETTING, 12, &[Forget, Your, Rules]),
        build_rule(FORGETTING, 24, &[Forget, Orders, Prior]),
        build_rule(FORGETTING, 16, &[Prior, Orders, Forget]),
        build_rule(FORGETTING, 16, &[Prior, Whole, Orders, Forget]),
        build_rule(FORGETTING, 16, &[Your, Orders, Forget]),
        build_rule(ADDRESSED, 12, &[YouAreAnAgent]),
        build_rule(ADDRESSED, 14, &[ToWhom, Agent]),
        build_rule(ADDRESSED, 14, &[ToWhom, Product, Must]),
        build_rule(ADDRESSED, 16, &[Agent, Must, Act]),
        build_rule(FREED, 24, &[YouAre, Unbound]),
        build_rule(TOOLS, 24, &[Call, Tool]),
        build_rule(AWAY, 40, &[Send, Secret, Elsewhere]),
        build_rule(PROMPT, 16, &[Reveal, YourPrompt]),
        build_rule(SECRECY, 24, &[Not, Tell, TheUser]),
        build_rule(SECRECY, 30, &[Not, TheUser, Tell]),
        build_rule(AUTHORITY, 0, &[Fixed]),
        build_rule(CONSENT, 12, &[TheUser, Consented]),
        build_rule(RUN, 60, &[OpenRun, PasteThere]),
    ]
};

/// Most texts have none of these, and then nobody has to look for markers.
pub const FIRST_OF_MARKERS: &[u8] = b"<[#\"\n";

/// Signs of the formats in which models are spoken to. A screen has no reason to show them, unless it shows code.
/// Each begins with one of `FIRST_OF_MARKERS`.
pub const MARKERS: &[(&str, &[&str])] = &[
    (
        "a mark of a model's own format",
        &[
            "<|im_start|>",
            "<|im_end|>",
            "<|system|>",
            "<|assistant|>",
            "<|user|>",
            "<|endoftext|>",
            "<|eot_id|>",
            "<|start_header_id|>",
            "<|begin_of_text|>",
            "[INST]",
            "[/INST]",
            "<<SYS>>",
            "<start_of_turn>",
            "<system>",
            "</system>",
            "[system](#",
            "<system_prompt>",
            "</system_prompt>",
            "<system-reminder>",
            "</system-reminder>",
            "### Instruction:",
            "### System:",
            "\n\nHuman:",
            "\n\nAssistant:",
            "[SYSTEM MESSAGE]",
            "[system override]",
            "\"role\": \"system\"",
            "\"role\":\"system\"",
        ],
    ),
    (
        "closes an envelope that is not its own",
        &[
            "</ACCESSIBILITY_TREE>",
            "<ACCESSIBILITY_TREE>",
            "</untrusted",
            "<untrusted",
            "</screen_text",
            "</ocr_text",
            "</user_query>",
            "</user_input>",
            "</document_content>",
            "</search_results>",
        ],
    ),
    (
        "a forged call or result of a tool",
        &[
            "<tool_result>",
            "</tool_result>",
            "<tool_call>",
            "</tool_call>",
            "<tool_use>",
            "<tool_response>",
            "</tool_response>",
            "<function_calls>",
            "</function_calls>",
            "<function_results>",
            "</function_results>",
            "<invoke name=",
            "\"type\": \"tool_result\"",
            "\"type\":\"tool_result\"",
            "\"type\":\"tool_use\"",
        ],
    ),
];

/// The terms of a concept, separated by commas.
pub const CONCEPTS: &[(Concept, &str)] = &[
    (
        Concept::Forget,
        "ignore, ignoring, ignored, disregard, disregarding, disregarded, forget, forgetting, forgotten, \
         override, overriding, overrule, bypass, neglect, discard, do not follow, dont follow, \
         stop following, stop obeying, do not obey, pay no attention to, set aside, take no account of, \
         no longer follow, supersede*, void, are void, erase, ignoriere, ignorieren, ignoriert, vergiss, \
         vergesst, vergessen sie, missachte, missachten, beachte nicht, verwirf, negeer, vergeet, ignorez, \
         ignorer, oublie, oubliez, ne tiens pas compte, ne tenez pas compte, ne tenez plus compte, \
         fais abstraction, faites abstraction, ignora, ignorar, ignoren, olvida, olvide, olvidate, \
         haz caso omiso, haga caso omiso, descarta, ignorem, esqueca, esquece, desconsidere, desconsidera, \
         dimentica, dimenticate, ignorate, trascura, zignoruj, ignoruj, zapomnij, zapomen, ignorera, glom, \
         игнорируй, игнорируйте, проигнорируй, проигнорируйте, забудь, забудьте, не обращай внимания, \
         ігноруй, забудь про, yok say, yoksay, gormezden gel, unut, abaikan, lupakan, bo qua, 忽略, 忽视, 无视, \
         無視, 忘记, 忘掉, 不要理会, 忘れて, 忘れろ, 무시, 잊어, تجاهل, تجاهلوا, تجاهلي, انس, अनदेखा, नज़रअंदाज़, नजरअंदाज, \
         भूल जाओ, भूल जाएं",
    ),
    (
        Concept::Prior,
        "previous, previously, prior, above, earlier, preceding, former, foregoing, past, before this, \
         so far, until now, up to now, you were given, you have been given, you received, \
         you have received, you were told, original, initial, existing, vorherige*, vorige*, bisherige*, \
         obige*, fruhere*, vorangegangene*, eerdere, voorgaande, bovenstaande, precedent*, anterieur*, \
         ci dessus, anterior*, previas, previos, previa, precedenti, sopra, sebelumnya, poprzedni*, \
         wczesniejsz*, predchoz*, tidigare, предыдущ*, прежн*, попередн*, onceki, truoc, 之前, 以前, 先前, 上述, \
         前面, 此前, 以上, これまで, 上記, 前の, 이전, 위의, 앞선, السابق*, أعلاه, पिछल*, पूर्व",
    ),
    (
        Concept::Whole,
        "all, any, every, everything, other, your, these, those, system, default, safety, the rest of, \
         alle, deine, ihre, toutes, tous, vos, tes, todas, todos, tus, sus, tutte, tutti, suas, wszystkie, \
         все, всі, tum, semua, 所有, 全部, 一切, 您的, 你的, すべて, 全て, あなたの, 모든, جميع, كل, सभी, सारे, system prompt, \
         your system prompt, your instructions, \
         tus instrucciones, tes instructions, твои инструкции, 你的指令, あなたの指示",
    ),
    (Concept::Your, "your, deine, tes, tus, suas, tue, twoje, твои, 你的, あなたの, 당신의"),
    (
        Concept::Orders,
        "instruction*, instructed, directive, directives, guideline*, guidance, system prompt, \
         system message, initial prompt, original prompt, your system prompt, your instructions, \
         your prompt, what you were told, everything you were told, anweisung*, instruktion*, vorgaben, \
         instructie*, opdracht*, consigne*, instruccion*, indicaciones, directrices, istruzion*, instruc*, \
         instrukcj*, polecen*, instrukce, pokyny, инструкци*, указани*, інструкці*, talimat*, yonerge*, \
         instruksi, huong dan, 指令, 指示, 说明, 提示词, 系统提示, プロンプト, 지시, 지침, التعليمات, تعليمات, الأوامر, निर्देश*, \
         tus instrucciones, tes instructions, твои инструкции, 你的指令, あなたの指示",
    ),
    (
        Concept::Rules,
        "rule, rules, order, orders, command, commands, prompt, prompts, constraint*, programming, \
         training, restriction*, safeguards, context, tasks, task, conversation, regeln, befehle, regels, \
         regles, ordres, reglas, ordenes, regole, ordini, regras, ordens, zasady, правила, команды, \
         kurallar, perintah, 规则, 命令, 提示, ルール, 規則, 명령, 규칙, नियम*",
    ),
    (
        Concept::Agent,
        "ai, ais, ai agent, ai agents, ai assistant, ai assistants, ai model, ai models, ai system, \
         ai systems, llm, llms, llm agents, language model, language models, large language model*, \
         the assistant, virtual assistant, automated agent*, autonomous agent*, computer use agent, \
         browser agent, chatbot, chatbots, machine readers, ki, ki assistent*, ki agent*, ki modell, \
         sprachmodell, kunstliche intelligenz, ia, agent ia, assistant ia, intelligence artificielle, \
         modele de langage, asistente de ia, inteligencia artificial, modelo de lenguaje, \
         modelo de linguagem, intelligenza artificiale, assistente ia, sztuczna inteligencja, ии, \
         ии ассистент, ии агент, нейросеть, искусственный интеллект, языковая модель, yapay zeka, 人工智能, \
         ai助手, 人工知能, aiアシスタント, 인공지능, الذكاء الاصطناعي, ai अभिकर्ता",
    ),
    (Concept::Product, "claude, chatgpt, gpt, gemini, copilot, grok, llama, operator"),
    (
        Concept::ToWhom,
        "note to, note for, notice to, notice for, attention, message for, message to, instruction for, \
         instructions for, instruction to, instructions to, important for, dear, hey, hello, to any, \
         to all, if you are, if youre, addressed to, for the attention of, listen, \
         special instructions for, reminder to, reminder for, guidance for, hinweis an, achtung, \
         nachricht an, anweisung an, anweisungen fur, a l attention de, message pour, instructions pour, \
         instrucciones para, atencion, mensaje para, nota para, attenzione, istruzioni per, atencao, \
         instrucoes para, внимание, сообщение для, инструкция для, инструкции для, dikkat, 致, 给, 注意, \
         انتباه, تنبيه, ध्यान दें",
    ),
    (
        Concept::YouAreAnAgent,
        "you are an ai, you are an llm, you are a language model, you are a large language model, \
         you are an assistant, you are a helpful assistant, you are a helpful ai, \
         you are an autonomous agent, you are chatgpt, you are claude, you are gpt, you are gemini, \
         you are a computer use agent, you are an ai agent, as an ai agent you, as an ai assistant you, \
         as an ai you must, du bist eine ki, du bist ein ki, sie sind eine ki, tu es une ia, \
         vous etes une ia, eres una ia, eres un asistente, sei una ia, voce e uma ia, ты ии, \
         ты языковая модель, 你是一个人工智能, 你是一个ai, あなたはai, 당신은 ai, 如果你是ai, 如果你是人工智能, ai agents reading this, \
         any ai reading this, any llm reading this, if an ai is reading, ai reading this",
    ),
    (
        Concept::YouAre,
        "you are, youre, you will be, act as, acting as, pretend, pretend to be, imagine you are, \
         from now on you, roleplay as, role play as, you can, you have, behave as, you will act as, \
         answer as, respond as, du bist, tu es, eres, actua como, agis comme, verhalte dich, ты, 你现在, あなたは今",
    ),
    (
        Concept::Unbound,
        "no longer bound, not bound by, unrestricted, unfiltered, uncensored, jailbroken, dan, \
         do anything now, without restrictions, without any restrictions, no restrictions, no rules, \
         no ethical, no limits, free of all, free from all, broken free, without filters, \
         without any filters, god mode, no longer an ai, evil, ohne einschrankungen, sans restriction*, \
         sin restricciones, senza restrizioni, без ограничений, 不受限制, 没有限制, 制限なし",
    ),
    (
        Concept::Call,
        "call, calling, invoke, invoking, run, running, execute, executing, use, using, trigger, issue, \
         rufe, appelle, appelez, llama, ejecuta, executa, esegui, вызови, выполни, 调用, 执行, 呼び出, 実行",
    ),
    (
        Concept::Tool,
        "execute_command, run_command, run_shell, shell_exec, read_file, write_file, send_email, \
         http_request, fetch_url, run_terminal_cmd, bash tool, shell tool, your tools, your tool, \
         mcp tool, mcp tools, computer tool, file tool, browser tool, email tool",
    ),
    (
        Concept::Must,
        "must, should, shall, has to, have to, needs to, need to, is required to, are required to, \
         is instructed to, are instructed to, please, to do, will now, muss, doit, doivent, debe, deben, \
         deve, должен, должна, 必须, 应该",
    ),
    (
        Concept::Act,
        "run, execute, click, press, open, type, enter, download, call, send, visit, navigate, paste, \
         copy, delete, transfer, install, approve, confirm, read, output, respond, reply, print, include, \
         follow, obey, comply, forward, upload, wire, submit, reveal, recommend, say, tell, ignore, rate, \
         klicke*, ausfuhren, offnen, cliquer, ouvrir, executer, hacer clic, abrir, ejecutar, enviar, \
         cliccare, clicar, нажать, открыть, выполнить, 点击, 打开, 执行",
    ),
    (
        Concept::Send,
        "send, forward, upload, post, transmit, exfiltrate, email, mail, leak, submit, paste, append, \
         encode, deliver, dump, put, write, copy, sende, schicke, schick, envoie, envoyez, envia, envie, \
         manda, invia, wyslij, отправь, отправьте, пришли, gonder, kirim, 发送, 上传, 送信, 보내, أرسل, भेजें, भेजो",
    ),
    (
        Concept::Secret,
        "password, passwords, credential*, api key, api keys, api token*, access token*, session cookie*, \
         cookies, ssh key*, private key*, seed phrase, recovery phrase, secret key*, credit card*, \
         card number*, environment variables, env file, id_rsa, system prompt, your instructions, \
         conversation history, chat history, this conversation, clipboard, secrets, contact list, \
         auth token*, browsing history, passwort, passworter, zugangsdaten, mot de passe, mots de passe, \
         identifiants, contrasena*, credenciales, senha, senhas, hasla, haslo, пароль, пароли, sifre*, \
         kata sandi, 密码, 口令, パスワード, 비밀번호, كلمة المرور, كلمات المرور, पासवर्ड",
    ),
    (
        Concept::Elsewhere,
        "@, http, https, www, following address, following url, this url, this address, that address, \
         webhook, attacker*, pastebin, external server, remote server, our server, query string, \
         url parameter, image url, com, gist",
    ),
    (
        Concept::Reveal,
        "reveal, print, output, repeat, show me, tell me, display, what is, what are, leak, recite, \
         translate, summarize, disclose, echo, write out, give me, wiederhole, zeige mir, repete, repite, \
         muestrame, покажи, повтори, 输出, 显示, 告诉我, 重复, 教えて",
    ),
    (
        Concept::YourPrompt,
        "your system prompt, your instructions, your initial instructions, your initial prompt, \
         your original instructions, your hidden prompt, your hidden instructions, your prompt, \
         your full prompt, the above prompt, the system prompt verbatim, your entire prompt, \
         deinen systemprompt, deinen system prompt, tes instructions, ton prompt, tus instrucciones, \
         твои инструкции, системный промпт, 你的系统提示, 你的指令, あなたの指示, システムプロンプト",
    ),
    (
        Concept::Not,
        "do not, dont, never, without, must not, should not, avoid, nicht, ohne, ne, sans, no, sin, non, \
         senza, nao, sem, не, без, 不要, 不得, 別, しないで",
    ),
    (
        Concept::Tell,
        "tell, telling, inform, informing, mention, mentioning, reveal, revealing, disclose, disclosing, \
         alert, alerting, warn, warning, let, say, show this to, sag, sage, sagen, mitteilen, informieren, erwahne, dis, \
         dites, informez, informer, digas, diga, informar, dire, dica, говори, сообщай, сообщая, \
         рассказывай, 告诉, 通知, 告知, 伝え, 言わ, 말하지",
    ),
    (
        Concept::TheUser,
        "the user, the users, user has, the human, your user, the operator, dem benutzer, den benutzer, \
         dem nutzer, l utilisateur, lutilisateur, al usuario, el usuario, all utente, allutente, \
         ao usuario, o usuario, пользователю, пользователя, 用户, 使用者, ユーザー, 사용자, المستخدم, उपयोगकर्ता",
    ),
    (
        Concept::Fixed,
        "begin system prompt, end of system prompt, tool_call_id, system override, admin override, your new instructions, your real instructions, \
         your actual instructions, new system prompt, updated system prompt, your new task is to, \
         your real task, your actual task, your true task, your new goal is to, your new objective is to, \
         your only task is, end of user input, end of untrusted, begin trusted, this text is trusted, \
         trusted instructions follow, hidden instructions for, message from anthropic, \
         message from openai, from the anthropic team, this is your developer, this is your creator, \
         as your developer i, developer mode enabled, dan mode enabled, you must obey, obey these, \
         comply with these instructions, follow these instructions instead, \
         follow the instructions on this page, execute these instructions, \
         the instructions below override, takes precedence over your, override your, supersedes your, \
         replace your system prompt, neue systemanweisung, nouvelles instructions systeme, \
         nuevas instrucciones del sistema, новые системные инструкции, 新的系统指令, 新しいシステム指示",
    ),
    (
        Concept::Consented,
        "already approved this, already approved all, already consented, already authorized this, \
         already authorised this, pre approved this, pre approved all, preapproved this, \
         has approved this action, has authorized this action, already given consent, \
         already confirmed this action, consented to this, wants you to, would like you to, asked you to, \
         has asked you to, authorizes you to",
    ),
    (
        Concept::OpenRun,
        "win r, windows r, windows key r, win key r, windows button r, windows x, open terminal, \
         open powershell, open the terminal, command space",
    ),
    (Concept::PasteThere, "ctrl v, control v, cmd v, command v, paste the code, paste the verification"),
    (
        Concept::Neutral,
        "password reset*, reset password, forgot password, password manager, password protected, \
         cookies policy, all rights, above average, ai overview*, google assistant, setup assistant, \
         migration assistant, the setup assistant, terms of use, order number, order of, in order to, \
         orders of magnitude, call center, the user guide, the user manual, the user name, \
         the user interface, the user agent, the user group, without warning, no warning",
    ),
];
